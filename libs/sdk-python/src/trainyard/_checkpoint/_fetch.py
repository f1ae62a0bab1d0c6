"""Reads checkpoints from an object store into a folder of the run, once for all processes of a host.

Each file is compared with its manifest entry while it is written. The folder gets its final name only after all
files are read, so that a crash leaves no incomplete checkpoint.
"""

from __future__ import annotations

import contextlib
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable

from .. import _log as log
from .._http import Backoff
from .._limits import (
    CHECKPOINT_BACKOFF_FIRST_S,
    CHECKPOINT_BACKOFF_MAX_S,
    CHECKPOINT_PATIENCE_S,
    TRANSFER_NOTICE_S,
    UPLOAD_CONNECTIONS,
    UPLOAD_FILES_PER_PLAN,
)
from .._storage import DamagedError, FileEntry, inside
from ..errors import CheckpointError
from ._transfer import Planned, StoreConnections, TransferError, WrongContentError

PlanFiles = Callable[[list[str]], dict[str, Planned]]
"""Returns the download request of each given path of the checkpoint."""


def fetch(uuid: str, manifest: list[FileEntry], target: Path, plan: PlanFiles) -> Path:
    """Returns the folder of the checkpoint below ``target``, downloading it if missing. Raises CheckpointError."""
    folder = target / uuid
    if folder.is_dir():
        return folder
    beside = target / f".{uuid}.{os.getpid()}"
    beside.mkdir(parents=True, exist_ok=True)
    fetching = _Fetch(uuid, beside, plan)
    try:
        with ThreadPoolExecutor(UPLOAD_CONNECTIONS) as lanes:
            for first in range(0, len(manifest), UPLOAD_FILES_PER_PLAN):
                fetching.page(manifest[first : first + UPLOAD_FILES_PER_PLAN], lanes)
    except BaseException:
        import shutil

        shutil.rmtree(beside, ignore_errors=True)
        raise
    finally:
        fetching.close()
    # Another process of this host may have created the folder first; its files are the same.
    with contextlib.suppress(OSError):
        os.replace(beside, folder)
    if beside.exists():
        import shutil

        shutil.rmtree(beside, ignore_errors=True)
    return folder


class _Fetch:
    def __init__(self, uuid: str, folder: Path, plan: PlanFiles) -> None:
        self._uuid = uuid
        self._folder = folder
        self._plan = plan
        self._store = StoreConnections()
        self._backoff = Backoff(CHECKPOINT_BACKOFF_FIRST_S, CHECKPOINT_BACKOFF_MAX_S)
        self._read = 0
        self._next_notice = time.monotonic() + TRANSFER_NOTICE_S
        self._ends_at = time.monotonic() + CHECKPOINT_PATIENCE_S

    def close(self) -> None:
        """Closes the connections to the store."""
        self._store.close()

    def page(self, entries: list[FileEntry], lanes: ThreadPoolExecutor) -> None:
        """Downloads these files, with retries until each is complete."""
        left = entries
        while left:
            requests = self._plan([entry.path for entry in left])
            answers = list(lanes.map(self._one, left, [requests.get(e.path) for e in left]))
            failed = [(entry, why) for entry, why in zip(left, answers) if why is not None]
            left = [entry for entry, _ in failed]
            if not failed:
                self._backoff.reset()
                continue
            if time.monotonic() > self._ends_at:
                raise CheckpointError(f"checkpoint {self._uuid} cannot be read: {failed[0][1]}")
            time.sleep(self._backoff.next_s())

    def _one(self, entry: FileEntry, request: Planned | None) -> str | None:
        """Downloads one file. Returns the reason for a retry, or None on success."""
        if request is None:
            return f"the platform planned no download of {entry.path}"
        target = self._folder / inside(self._uuid, entry.path)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._store.fetch(request, entry, target)
        except WrongContentError as error:
            raise DamagedError(
                f"checkpoint {self._uuid} is damaged: {entry.path} {error}"
            ) from error
        except TransferError as error:
            return str(error)
        self._read += entry.bytes
        if time.monotonic() >= self._next_notice:
            self._next_notice = time.monotonic() + TRANSFER_NOTICE_S
            log.info("checkpoint %s: %.0f MB read from its store", self._uuid, self._read / 1e6)
        return None
