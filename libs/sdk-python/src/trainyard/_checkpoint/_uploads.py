"""Uploads a process's pending checkpoints to their object store.

The digests and the sent parts of a checkpoint are remembered while it is pending, so that no file is hashed twice.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any, NamedTuple

from .._limits import UPLOAD_REMEMBERED_S
from ._spool import Record
from ._upload_process import Sent, UploadProcess


class _Upload(NamedTuple):
    # The manifest with the digests that the store verifies.
    manifest: list[dict[str, Any]]
    sent_at: float


class Uploads:
    """Runs one upload at a time, in a separate process."""

    def __init__(self, url: str, run: str, token: str, root: Path) -> None:
        self._order = {"url": url, "run": run, "token": token}
        self._root = root
        self._process = UploadProcess()
        self._uploads: dict[str, _Upload] = {}

    def send(self, record: Record, store: str) -> Sent:
        """Uploads the parts of a checkpoint that the store lacks."""
        earlier = self._uploads.get(record.uuid)
        # Google's stores verify MD5, which is slow: the uploading process computes it.
        if earlier is None and record.digested and store.startswith("s3://"):
            earlier = _Upload(list(record.digested), -math.inf)
        # Other hosts may still be uploading: until then this host's files are assumed to be in the store.
        if earlier is not None and time.monotonic() - earlier.sent_at < UPLOAD_REMEMBERED_S:
            return Sent(earlier.manifest, True)
        folder = str(self._root / record.uuid)
        order = {**self._order, "checkpoint": record.uuid, "folder": folder, "store": store}
        read = record.completion() if earlier is None else {"manifest": earlier.manifest}
        sent = self._process.run({**order, **read, "digested": earlier is not None})
        if sent.manifest is not None:
            sent_at = time.monotonic() if sent.is_sent else -math.inf
            self._uploads[record.uuid] = _Upload(sent.manifest, sent_at)
        return sent

    def digested(self, uuid: str) -> list[dict[str, Any]] | None:
        """The manifest with the digests that the store verifies; None if this process has not read the files."""
        upload = self._uploads.get(uuid)
        return None if upload is None else upload.manifest

    def forget(self, uuid: str) -> None:
        """Drops the remembered state of a checkpoint that is no longer pending."""
        self._uploads.pop(uuid, None)

    def remove(self, uuid: str) -> None:
        """Removes the local files of a checkpoint that is in the store."""
        import shutil

        shutil.rmtree(self._root / uuid, ignore_errors=True)

    def end(self) -> None:
        """Kills a running upload, and prevents further ones."""
        self._process.end()
