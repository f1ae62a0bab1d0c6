"""Creates an experiment from a configuration and a folder of training code, like ``yard experiment create``."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import _log as log
from .._code import STARTUP_HOOK, CodeError, Config, config_text, packed, repository_of
from .._files import PathLike
from .._version import __version__
from ._api import Api

_CLIENT = f"trainyard-python {__version__}"


def create(
    api: Api,
    config: Config,
    model_dir: PathLike | None,
    includes: Iterable[PathLike],
    overrides: Sequence[str],
    paused: bool,
    key: str,
) -> dict[str, Any]:
    """Submits the experiment and returns the platform's answer. See ``Client.create_experiment``. ``overrides`` are
    texts like ``key=value``.
    """
    text = config_text(config)
    if "<masked>" in text:
        raise CodeError("The configuration has masked values: put the values in their places.")
    body: dict[str, Any] = {
        "config": text,
        "overrides": list(overrides),
        "paused": paused,
        "client": _CLIENT,
    }
    includes = list(includes)
    if model_dir is None and includes:
        raise ValueError("includes are added to model_dir, which is missing: pass model_dir, too")
    twice = False
    if model_dir is not None:
        code = packed(model_dir, includes)
        body["context"] = base64.b64encode(code.content).decode("ascii")
        repository = repository_of(Path(model_dir))
        if repository is not None:
            body["repository"] = repository
        twice = STARTUP_HOOK in code.names and STARTUP_HOOK in text
    answer = api.call("POST", "/api/v1/experiments", body, key=key)
    if twice:
        why = "is read before the entrypoint: where the entrypoint names it, it runs twice"
        answer = {
            **answer,
            "warnings": [*(answer.get("warnings") or []), f"{STARTUP_HOOK}: {why}"],
        }
    return answer


def validate(api: Api, config: Config, overrides: Mapping[str, Any]) -> list[str]:
    """Checks a configuration. See ``Client.validate``."""
    text, changes = config_text(config), overrides_of(overrides)
    body = {"config": text, "overrides": changes, "validateOnly": True}
    return warnings_of(api.call("POST", "/api/v1/experiments", body))


def overrides_of(overrides: Mapping[str, Any]) -> list[str]:
    """Returns each override as ``key=value``, with the value as JSON, which is also YAML."""
    return [f"{key}={json.dumps(value)}" for key, value in overrides.items()]


def warnings_of(answer: Mapping[str, Any]) -> list[str]:
    """Logs and returns the warnings of an answer."""
    warnings = [str(one) for one in answer.get("warnings") or []]
    for warning in warnings:
        log.warning("%s", warning)
    return warnings
