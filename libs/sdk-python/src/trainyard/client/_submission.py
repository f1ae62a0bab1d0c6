"""Writes an experiment as a folder that can be submitted again, like ``yard experiment download``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ._api import Api
from ._download import new_folder, unpack


def download_experiment(api: Api, path: str, folder: Path) -> Path:
    """Downloads an experiment. See ``Experiment.download``. ``path`` is the experiment's API path."""
    submission = api.get(f"{path}/submission")
    record = submission.get("record") or {}
    texts = {
        "experiment.yaml": submission.get("config"),
        "submission.json": json.dumps(submission, indent=2) + "\n",
        "submitted.yaml": record.get("configText"),
        "requirements.txt": _requirements(submission),
        "changes.diff": (record.get("repository") or {}).get("diff"),
    }
    with new_folder(folder) as partial:
        for name, text in texts.items():
            if text:
                (partial / name).write_text(str(text), encoding="utf-8")
        if submission.get("codeDigest"):
            unpack(api, f"{path}/code", partial / "code", str(submission["codeDigest"]))
        else:
            (partial / "code").mkdir()
    return folder


def _requirements(submission: Mapping[str, Any]) -> str:
    """Returns the packages of the first run as a pip requirements file, without names that pip could not parse."""
    first = next(iter(submission.get("environments") or []), {})
    readable = re.compile(r"[A-Za-z0-9._+!-]+")
    return "".join(
        f"{name}=={version}\n"
        for name, version in (first.get("packages") or {}).items()
        if readable.fullmatch(name) and readable.fullmatch(str(version))
    )
