"""Local mode, for ``init()`` outside a task: the calls write to a folder.

<folder>/run-<n>/spool/reports.ndjson   the reports of the n-th ``init`` in this folder
<folder>/run-<n>/end.json               why it ended
<folder>/checkpoints/<uuid>/            the files of a checkpoint
<folder>/checkpoints/complete.ndjson    a line for each complete checkpoint, the latest last
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _values
from ._checkpoint._store import entry_of
from ._files import PathLike
from ._info import Info
from ._storage import METADATA, FileEntry, Plan, seal
from .errors import CheckpointError

DEFAULT_FOLDER = "trainyard-local"


def folder_of(local_dir: PathLike | None, env: Mapping[str, str]) -> Path:
    """Returns the folder of this run: the given one, or a new one under ``./trainyard-local``."""
    folder = local_dir if local_dir is not None else env.get("TRAINYARD_LOCAL_DIR")
    if folder:
        return Path(os.fspath(folder)).absolute()
    stamp = time.strftime("%Y%m%d-%H%M%S")
    return Path(DEFAULT_FOLDER, f"{stamp}-{os.getpid()}").absolute()


def info_of(folder: Path, hparams: Mapping[str, Any], config: Mapping[str, Any], seed: int) -> Info:
    """Returns the next run in a folder, which starts from the folder's latest checkpoint."""
    run, run_dir = _next_run(folder)
    latest, steps = LocalStore(folder / "checkpoints").latest()
    return Info(
        experiment_id=0,
        trial_id="local",
        run=run,
        trial_seed=seed,
        hparams=dict(hparams),
        config=dict(config),
        search_needs_metric=False,
        latest_checkpoint=latest,
        steps_completed=steps,
        slots=(),
        rank=0,
        nnodes=1,
        master_addr="127.0.0.1",
        master_port=0,
        run_dir=run_dir,
        local=True,
    )


def _next_run(folder: Path) -> tuple[int, Path]:
    try:
        return _make_next_run(folder)
    except OSError as error:
        raise OSError(
            error.errno,
            f"the folder of a run outside of a task cannot be made ({error.strerror}): "
            "give local_dir= of trainyard.init(), or set TRAINYARD_LOCAL_DIR",
            str(folder),
        ) from error


def _make_next_run(folder: Path) -> tuple[int, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    run = 1
    while True:
        run_dir = folder / f"run-{run}"
        try:
            run_dir.mkdir()
            return run, run_dir
        except FileExistsError:
            run += 1


class LocalStore:
    """Stores checkpoints in a local folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._index = folder / "complete.ndjson"

    def declare(self, uuid: str, steps_completed: float, metadata: dict[str, Any]) -> Path:
        """Returns the folder to write the checkpoint to."""
        del steps_completed, metadata  # The metadata file in the folder has both.
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder / uuid

    def seal(self, uuid: str, folder: Path) -> list[FileEntry]:
        """Syncs the files of a folder to disk and returns their manifest."""
        return seal(folder)

    def check(self, folder: Path, manifest: list[FileEntry]) -> None:
        """Does nothing: a folder accepts every checkpoint that could be sealed."""

    def complete(self, uuid: str, manifest: list[FileEntry]) -> None:
        """Appends the checkpoint's line to the file of complete checkpoints."""
        line = {"uuid": uuid, "manifest": [entry.message() for entry in manifest]}
        with open(self._index, "ab", buffering=0) as file:
            # The newline before the line ends a partial line that a killed process may have left.
            file.write(b"\n" + _values.encode(line) + b"\n")
            os.fsync(file.fileno())

    def give_up(self, uuid: str) -> None:
        """Does nothing: a checkpoint without a line is incomplete."""

    def by_host(self) -> None:
        """Returns None: all processes write to one folder."""

    def close(self, timeout_s: float) -> None:
        """Does nothing: local checkpoints are never pending."""

    def plan(self, uuid: str) -> Plan:
        """Returns the plan from the checkpoint's line."""
        line = self._complete().get(uuid)
        if line is None:
            raise CheckpointError(f"there is no complete checkpoint {uuid} in {self._folder}")
        manifest = [entry_of(uuid, entry) for entry in line["manifest"]]
        return Plan(self._folder / uuid, manifest, self._metadata(uuid))

    def fetch(self, uuid: str, plan: Plan) -> None:
        """Does nothing: the files are in the folder already."""

    def report_damage(self, uuid: str, damage: str) -> str:
        """Records nothing: a person chooses another checkpoint."""
        del uuid, damage
        return "restore another checkpoint, or start without one"

    def latest(self) -> tuple[str | None, float]:
        """Returns the last completed checkpoint that still exists, and its steps."""
        for uuid in reversed(list(self._complete())):
            if (self._folder / uuid / METADATA).is_file():
                return uuid, _values.steps_of(self._metadata(uuid).get("steps_completed", 0))
        return None, 0

    def _complete(self) -> dict[str, Any]:
        try:
            lines = self._index.read_bytes().split(b"\n")
        except FileNotFoundError:
            return {}
        records: dict[str, Any] = {}
        for line in lines:
            try:
                entry = json.loads(line)
                records[entry["uuid"]] = {"manifest": entry["manifest"]}
            except (ValueError, KeyError, TypeError):
                # An empty or partial line, left by a killed process: its checkpoint was not completed.
                continue
        return records

    def _metadata(self, uuid: str) -> dict[str, Any]:
        try:
            metadata: dict[str, Any] = json.loads((self._folder / uuid / METADATA).read_bytes())
            return metadata
        except (OSError, ValueError) as error:
            raise CheckpointError(
                f"the metadata of checkpoint {uuid} cannot be read: {error}"
            ) from error
