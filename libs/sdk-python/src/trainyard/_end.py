"""The end record of a run, ``end.json`` in its folder: the reason why the script ended, which an exit code cannot
express. The reason is written as soon as it is known, so that it survives a later kill or ``os._exit``.

Of several reasons the most severe wins: a script that is asked to stop and then fails has failed, and processes of
one node do not hide each other's failures. Of several errors the first wins, except that a process's own error
replaces another process's error about losing it.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import _log as log
from ._files import lock, write_by_rename
from ._limits import MESSAGE_CHARACTERS_MAX

FINISHED = "END_REASON_FINISHED"
ACKNOWLEDGED_STOP = "END_REASON_ACKNOWLEDGED_STOP"
ERROR = "END_REASON_ERROR"
INVALID_HYPERPARAMETERS = "END_REASON_INVALID_HYPERPARAMETERS"

# The suffix of the file with the position at which a process hangs.
STALLED = ".stalled"

# Ordered from the least to the most severe.
_ORDER = (FINISHED, ACKNOWLEDGED_STOP, ERROR, INVALID_HYPERPARAMETERS)


class EndRecord:
    """Writes and reads ``end.json``."""

    def __init__(self, run_dir: Path) -> None:
        self.path = run_dir / "end.json"

    def write(
        self, reason: str, message: str, *, follows: bool = False, decided: bool = False
    ) -> None:
        """Records the reason unless one as severe is recorded. ``follows``: the error is a consequence of another
        process's end. ``decided``: the launcher found that this error is the cause. A full disk is logged, and
        never raises.
        """
        record: dict[str, Any] = {"reason": reason, "message": message[:MESSAGE_CHARACTERS_MAX]}
        if follows:
            record["follows"] = True
        try:
            with self._locked():
                standing = self._standing()
                if standing is None or _weight(record, decided) > _weight(standing, False):
                    # The record is escaped to ASCII, so that any exception's text can be written.
                    write_by_rename(self.path, json.dumps(record).encode("ascii"))
        except OSError as error:
            log.warning("the end of the run could not be recorded in %s: %s", self.path, error)

    def reason(self) -> str | None:
        """The recorded reason; None if nothing is recorded."""
        standing = self._standing()
        return None if standing is None else standing["reason"]

    def _standing(self) -> dict[str, Any] | None:
        try:
            record: dict[str, Any] = json.loads(self.path.read_bytes())
            return record if record["reason"] in _ORDER else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Holds the folder's lock: processes of a node that fail together write one after the other."""
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            lock(folder)
            yield
        finally:
            os.close(folder)


def _weight(record: dict[str, Any], decided: bool) -> tuple[int, bool, bool]:
    return _ORDER.index(record["reason"]), record.get("follows") is not True, decided


def describe(error: BaseException) -> str:
    """An exception in one line: its type, its text, and where it was raised."""
    # A local import: most runs have no exception to describe.
    import traceback

    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return text
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"
    return text[: MESSAGE_CHARACTERS_MAX - len(where)] + where


def tell_launcher(message: str, error: BaseException | None, follows: bool) -> None:
    """Writes an error to the launcher's file before this process ends: delivering the last reports may take
    seconds, and other ranks report the loss of this one at once.
    """
    path = os.environ.get("TRAINYARD_ERROR_FILE")
    if not path or error is None:
        return
    import traceback

    lines = traceback.format_exception(type(error), error, error.__traceback__)
    record = {"message": message, "traceback": "".join(lines).strip(), "follows": follows}
    try:
        write_by_rename(path, json.dumps(record).encode("ascii"))
    except OSError as problem:
        log.warning("the error could not be sent to the launcher: %s", problem)


def tell_stall(text: str) -> None:
    """Writes the position at which this process hangs to the launcher's file; an empty text removes it."""
    path = os.environ.get("TRAINYARD_ERROR_FILE")
    if not path:
        return
    try:
        write_by_rename(f"{path}{STALLED}", text.encode("utf-8", "replace"))
    except OSError as problem:
        log.warning("the position of this process could not be sent to the launcher: %s", problem)


def is_of_lost_peer(error: BaseException) -> bool:
    """Whether an exception only reports that another process of the run has ended."""
    seen = []
    cause: BaseException | None = error
    while cause is not None and cause not in seen:
        seen.append(cause)
        kind = type(cause)
        if says_lost_peer(f"{kind.__module__}.{kind.__name__}: {cause}"):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def says_lost_peer(text: str) -> bool:
    """Whether an exception's last line, as Python prints it, only reports that another process has ended."""
    kind, _, message = text.partition(":")
    if kind.endswith("DistributedError") or kind.startswith("torch.distributed"):
        return True
    is_of_torch = kind in ("RuntimeError", "builtins.RuntimeError") or kind.startswith("torch.")
    return is_of_torch and any(mark in message for mark in _OF_LOST_PEER)


# Texts in the messages of gloo and NCCL about a connection that the other side has closed or does not answer.
_OF_LOST_PEER = (
    "gloo",
    "NCCL",
    "Connection closed by peer",
    "Connection reset by peer",
    "Connection refused",
    "Broken pipe",
)
