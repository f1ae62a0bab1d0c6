"""The checkpoints of this node that the platform has not taken yet: ``spool/checkpoints`` in the run's
folder.

A checkpoint goes through two files there, and is settled when it has none:

- ``<uuid>.begun``, empty, from before its folder is made until that is whole. A process that finds one after
  the process is gone removes the checkpoint's folder: nothing else knows of it.
- ``<uuid>.json``, put there by rename once the folder is whole and on the disk: all that it takes to
  declare and complete it. To do that twice is harmless.

Each process of a node delivers its own, and the agent what ended processes left, the earliest first.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import Any, NamedTuple

from .. import _values, _versions
from .._files import write_by_rename
from .._storage import FileEntry

FOLDER = "checkpoints"


class Record(NamedTuple):
    """A checkpoint whose folder is whole."""

    uuid: str
    steps_completed: float
    metadata: dict[str, Any]
    manifest: list[FileEntry]
    # The storage's id as this host sees it; empty where it is not known.
    storage_id: str = ""
    # Files that other hosts send to the same object store, as proto JSON with their digests.
    of_others: tuple[Any, ...] = ()
    # Whether these are files of a checkpoint that the chief's host completes.
    is_part: bool = False
    # The files as proto JSON with the SHA-256 of their parts, where they were read for it. Not in the spool.
    digested: tuple[Any, ...] = ()

    def declaration(self) -> dict[str, Any]:
        """The body of the request that declares it."""
        message: dict[str, Any] = {
            "checkpoint": self.uuid,
            "stepsCompleted": self.steps_completed,
            "metadata": _versions.with_versions(self.metadata),
        }
        return {**message, "storageId": self.storage_id} if self.storage_id else message

    def completion(self) -> dict[str, Any]:
        """The body of the completing request, for a directory storage."""
        return {"manifest": [entry.message() for entry in self.manifest]}

    def shares(self) -> dict[str, Any]:
        """The record's part about other hosts' files; nothing for a checkpoint of one host."""
        of_others = {"ofOthers": list(self.of_others)} if self.of_others else {}
        return {**of_others, **({"isPart": True} if self.is_part else {})}


class CheckpointSpool:
    """Writes and removes the files of one run's checkpoints."""

    def __init__(self, spool: Path) -> None:
        self.folder = spool / FOLDER

    def begin(self, uuid: str) -> None:
        """Says that the checkpoint's folder is about to be made."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / f"{uuid}.begun").touch()

    def seal(self, record: Record) -> None:
        """Records that the folder is complete. From here on the checkpoint survives the process."""
        message = {"sealedMs": time.time_ns() // 1_000_000}
        declared = {**message, **record.declaration()}
        line = _values.encode({**declared, **record.completion(), **record.shares()})
        write_by_rename(self.folder / f"{record.uuid}.json", line)
        self.give_up(record.uuid)

    def give_up(self, uuid: str) -> None:
        """Says that there is no unfinished folder (any more)."""
        with contextlib.suppress(OSError):
            (self.folder / f"{uuid}.begun").unlink()

    def settle(self, uuid: str) -> None:
        """Says that the platform has decided on the checkpoint."""
        self.give_up(uuid)
        # Without its record the agent would take the folder for one that was never whole.
        if (self.folder / f"{uuid}.begun").exists():
            return
        with contextlib.suppress(OSError):
            (self.folder / f"{uuid}.json").unlink()
