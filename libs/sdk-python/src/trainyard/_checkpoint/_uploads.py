"""Sends a process's pending checkpoints to their object store, and remembers what was read and sent of each: no file is
hashed again as long as its checkpoint is pending.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any, NamedTuple

from .._limits import UPLOAD_REMEMBERED_S
from ._spool import Record
from ._upload_process import Sent, UploadProcess


class _Known(NamedTuple):
    # With the digests that the store compares.
    manifest: list[dict[str, Any]]
    sent_at: float


class Uploads:
    """One upload at a time, by a process of its own."""

    def __init__(self, url: str, run: str, token: str, root: Path) -> None:
        self._order = {"url": url, "run": run, "token": token}
        self._root = root
        self._process = UploadProcess()
        self._known: dict[str, _Known] = {}

    def send(self, record: Record, store: str) -> Sent:
        """Sends what the store does not have of a checkpoint."""
        known = self._known.get(record.uuid)
        # Google's stores compare MD5, which takes longer than all else and so is left to the uploader.
        if known is None and record.digested and store.startswith("s3://"):
            known = _Known(list(record.digested), -math.inf)
        # Other hosts may still send theirs: meanwhile nobody looks whether these files are still there.
        if known is not None and time.monotonic() - known.sent_at < UPLOAD_REMEMBERED_S:
            return Sent(known.manifest, True)
        folder = str(self._root / record.uuid)
        order = {**self._order, "checkpoint": record.uuid, "folder": folder, "store": store}
        read = record.completion() if known is None else {"manifest": known.manifest}
        sent = self._process.run({**order, **read, "digested": known is not None})
        if sent.manifest is not None:
            sent_at = time.monotonic() if sent.is_sent else -math.inf
            self._known[record.uuid] = _Known(sent.manifest, sent_at)
        return sent

    def forget(self, uuid: str) -> None:
        """The checkpoint is pending no more."""
        self._known.pop(uuid, None)

    def remove(self, uuid: str) -> None:
        """Removes the files of a checkpoint that is in the store."""
        import shutil

        shutil.rmtree(self._root / uuid, ignore_errors=True)

    def end(self) -> None:
        """Ends a running upload, and starts no other."""
        self._process.end()
