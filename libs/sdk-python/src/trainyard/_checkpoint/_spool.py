"""Records the checkpoints of this node that the platform has neither completed nor refused: ``spool/checkpoints``
in the run's folder.

A checkpoint has one of two files there until it is settled:

- ``<uuid>.begun``, empty, from before its folder is created until the folder is complete. The agent that finds it after
  its writer has ended removes the checkpoint's folder, unless the platform knows the checkpoint.
- ``<uuid>.json``, created by rename once the folder is complete and on the disk: all that is needed to
  declare and complete the checkpoint. Doing so twice is harmless. The record is on the disk, too, before the
  ``.begun`` is removed.

The record of a complete checkpoint then moves to ``spool/stored``: the agent offers it again to a log that went back.

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
STORED = "stored"


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
        self.stored = spool / STORED

    def last_validation(self) -> str:
        """The key of the last validation that this node has recorded; empty for none."""
        return last_validation(self.folder.parent)

    def begin(self, uuid: str) -> None:
        """Records that the checkpoint's folder is about to be created."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / f"{uuid}.begun").touch()

    def seal(self, record: Record, digested: list[Any] | None = None) -> None:
        """Records that the folder is complete. From then on the checkpoint survives the process. ``digested`` has the
        files with the digests that an upload needs: it then reads no file to compute them.
        """
        is_digested = {} if digested is None else {"manifest": digested, "isDigested": True}
        line = _line_of(record, {**record.completion(), **is_digested})
        write_by_rename(self.folder / f"{record.uuid}.json", line, durable=True)
        self.give_up(record.uuid)

    def keep(self, record: Record, digested: list[Any] | None) -> None:
        """Keeps the record of a complete checkpoint, with the digests of an upload: the local files may be removed."""
        completion = record.completion() if digested is None else {"manifest": digested}
        # Without the record, only an offer to a log that went back is missing.
        with contextlib.suppress(OSError):
            self.stored.mkdir(exist_ok=True)
            path = self.stored / f"{record.uuid}.json"
            write_by_rename(path, _line_of(record, completion), durable=True)

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


def _line_of(record: Record, completion: dict[str, Any]) -> bytes:
    message = {"sealedMs": time.time_ns() // 1_000_000}
    return _values.encode({**message, **record.declaration(), **completion, **record.shares()})
