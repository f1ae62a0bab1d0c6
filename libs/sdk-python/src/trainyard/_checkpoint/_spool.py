"""Records the checkpoints of this node that the platform has neither completed nor refused: ``spool/checkpoints``
in the run's folder.

A checkpoint has one of two files there until it is settled:

- ``<uuid>.begun``, empty, from before its folder is created until the folder is complete. A process that finds it after
  its writer has ended removes the checkpoint's folder, which nothing else refers to.
- ``<uuid>.json``, created by rename once the folder is complete and on the disk: all that is needed to
  declare and complete the checkpoint. Doing so twice is harmless.

Each process of a node delivers its checkpoints. The agent delivers those of ended processes, the earliest first.
"""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import Any, NamedTuple

from .. import _values, _versions
from .._files import write_by_rename
from .._spool import last_validation
from .._storage import FileEntry

FOLDER = "checkpoints"


class Record(NamedTuple):
    """A checkpoint whose folder is whole."""

    uuid: str
    steps_completed: float
    metadata: dict[str, Any]
    manifest: list[FileEntry]
    # The storage's id as seen from this host; empty if unknown.
    storage_id: str = ""
    # The key of the last validation that the run recorded before; empty for none.
    last_validation: str = ""
    # Files that other hosts upload to the same object store, as proto JSON with their digests.
    of_others: tuple[Any, ...] = ()
    # Whether the chief's host completes the checkpoint that these files belong to.
    is_part: bool = False
    # The files as proto JSON with the SHA-256 of their parts, if computed already. Not in the spool.
    digested: tuple[Any, ...] = ()

    def declaration(self) -> dict[str, Any]:
        """The body of the request that declares the checkpoint."""
        message: dict[str, Any] = {
            "checkpoint": self.uuid,
            "stepsCompleted": self.steps_completed,
            "metadata": _versions.with_versions(self.metadata),
        }
        if self.storage_id:
            message["storageId"] = self.storage_id
        if self.last_validation:
            message["lastValidation"] = self.last_validation
        return message

    def completion(self) -> dict[str, Any]:
        """The body of the request that completes the checkpoint in a directory storage."""
        return {"manifest": [entry.message() for entry in self.manifest]}

    def shares(self) -> dict[str, Any]:
        """The record's fields about other hosts' files; empty for a checkpoint of one host."""
        of_others = {"ofOthers": list(self.of_others)} if self.of_others else {}
        return {**of_others, **({"isPart": True} if self.is_part else {})}


class CheckpointSpool:
    """Writes and removes the files of one run's checkpoints."""

    def __init__(self, spool: Path) -> None:
        self.folder = spool / FOLDER

    def last_validation(self) -> str:
        """The key of the last validation that this node has recorded; empty for none."""
        return last_validation(self.folder.parent)

    def begin(self, uuid: str) -> None:
        """Records that the checkpoint's folder is about to be created."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / f"{uuid}.begun").touch()

    def seal(self, record: Record) -> None:
        """Records that the folder is complete. From then on the checkpoint survives the process."""
        message = {"sealedMs": time.time_ns() // 1_000_000}
        declared = {**message, **record.declaration()}
        line = _values.encode({**declared, **record.completion(), **record.shares()})
        write_by_rename(self.folder / f"{record.uuid}.json", line)
        self.give_up(record.uuid)

    def give_up(self, uuid: str) -> None:
        """Records that no unfinished folder of this checkpoint exists."""
        with contextlib.suppress(OSError):
            (self.folder / f"{uuid}.begun").unlink()

    def settle(self, uuid: str) -> None:
        """Removes the files of a checkpoint that the platform has decided on."""
        self.give_up(uuid)
        # Without its record, the agent would take the folder for an incomplete one.
        if (self.folder / f"{uuid}.begun").exists():
            return
        with contextlib.suppress(OSError):
            (self.folder / f"{uuid}.json").unlink()
