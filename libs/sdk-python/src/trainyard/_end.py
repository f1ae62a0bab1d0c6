"""The last word of a run, ``end.json`` in its folder: why the script ended, which an exit code
cannot say.

It is written when it becomes known, not only at the end, so that a script that is killed or calls
``os._exit`` after it still has said it. Of several reasons the harshest stands: a script that was
asked to stop and then fails has failed, and processes of one node do not hide each other's
failures. Of several errors the first stands, save that what a process says of a lost neighbour gives
way to what that neighbour says itself.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any, Dict, Iterator, Optional, Tuple

from . import _log as log
from ._files import lock, write_by_rename
from ._limits import MESSAGE_CHARACTERS_MAX
from .errors import DistributedError

FINISHED = "END_REASON_FINISHED"
ACKNOWLEDGED_STOP = "END_REASON_ACKNOWLEDGED_STOP"
ERROR = "END_REASON_ERROR"
INVALID_HYPERPARAMETERS = "END_REASON_INVALID_HYPERPARAMETERS"

# From the mildest to the harshest.
_ORDER = (FINISHED, ACKNOWLEDGED_STOP, ERROR, INVALID_HYPERPARAMETERS)


class EndRecord:
    """Writes ``end.json``."""

    def __init__(self, run_dir: Path) -> None:
        self.path = run_dir / "end.json"

    def write(self, reason: str, message: str, *, follows: bool = False) -> None:
        """Records the reason unless one as harsh stands already; ``follows`` says that it is an error
        because of another process's end. A full disk is logged, and never raises.
        """
        record: Dict[str, Any] = {"reason": reason, "message": message[:MESSAGE_CHARACTERS_MAX]}
        if follows:
            record["follows"] = True
        try:
            with self._locked():
                standing = self._standing()
                if standing is None or _weight(record) > _weight(standing):
                    # Escaped to ASCII, so that an exception's text of any kind can be written.
                    write_by_rename(self.path, json.dumps(record).encode("ascii"))
        except OSError as error:
            log.warning("the end of the run could not be recorded in %s: %s", self.path, error)

    def reason(self) -> Optional[str]:
        """The reason that stands; None when there is none."""
        standing = self._standing()
        return None if standing is None else standing["reason"]

    def _standing(self) -> Optional[Dict[str, Any]]:
        try:
            record: Dict[str, Any] = json.loads(self.path.read_bytes())
            return record if record["reason"] in _ORDER else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Processes of a node that fail together write one after the other."""
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            lock(folder)
            yield
        finally:
            os.close(folder)


def _weight(record: Dict[str, Any]) -> Tuple[int, bool]:
    return _ORDER.index(record["reason"]), record.get("follows") is not True


def describe(error: BaseException) -> str:
    """An exception in one line: its type, its text, and where it was raised."""
    # Loaded here: most runs have nothing to describe.
    import traceback

    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return text
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"
    return text[: MESSAGE_CHARACTERS_MAX - len(where)] + where


def is_of_lost_peer(error: BaseException) -> bool:
    """Whether an exception says no more than that another process of the run is gone."""
    seen = []
    cause: Optional[BaseException] = error
    while cause is not None and cause not in seen:
        seen.append(cause)
        kind = type(cause)
        if isinstance(cause, DistributedError) or kind.__module__.startswith("torch.distributed"):
            return True
        if kind is not RuntimeError and not kind.__module__.startswith("torch"):
            return False
        if any(said in str(cause) for said in _OF_LOST_PEER):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


# What gloo and NCCL say of a connection that the other side has closed.
_OF_LOST_PEER = (
    "gloo",
    "NCCL",
    "Connection closed by peer",
    "Connection reset by peer",
    "Broken pipe",
)
