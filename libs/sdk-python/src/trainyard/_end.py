"""The last word of a run, ``end.json`` in its folder: why the script ended, which an exit code
cannot say.

It is written when it becomes known, not only at the end, so that a script that is killed or calls
``os._exit`` after it still has said it. Of several reasons the harshest stands: a script that was
asked to stop and then fails has failed, and processes of one node do not hide each other's
failures.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Optional

from . import _log as log
from ._files import write_by_rename
from ._limits import MESSAGE_CHARACTERS_MAX

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

    def write(self, reason: str, message: str) -> None:
        """Records the reason unless one as harsh stands already. A full disk is logged, and never
        raises.
        """
        standing = self.reason()
        if standing is not None and _ORDER.index(standing) >= _ORDER.index(reason):
            return
        record = {"reason": reason, "message": message[:MESSAGE_CHARACTERS_MAX]}
        try:
            # Escaped to ASCII, so that an exception's text of any kind can be written.
            write_by_rename(self.path, json.dumps(record).encode("ascii"))
        except OSError as error:
            log.warning("the end of the run could not be recorded in %s: %s", self.path, error)

    def reason(self) -> Optional[str]:
        """The reason that stands; None when there is none."""
        try:
            record = json.loads(self.path.read_bytes())
            return record["reason"] if record["reason"] in _ORDER else None
        except (OSError, ValueError, KeyError, TypeError):
            return None


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
