"""Reports a damaged checkpoint to the platform.

This machine may see another state than the platform, for example by a stale cache or a wrong mount. So the report
alone changes nothing: the platform reads the checkpoint itself, and no later run starts from it if the platform finds
it damaged, too. The report is sent before the error is raised, because the trial's next run starts soon after.
"""

from __future__ import annotations

import time

from .. import _log as log
from .. import _values
from .._http import Backoff, HttpConnection, Reply, UnreachableError
from .._limits import (
    CHECKPOINT_BACKOFF_FIRST_S,
    CHECKPOINT_BACKOFF_MAX_S,
    CHECKPOINT_DEFECT_S,
    CHECKPOINT_PATIENCE_S,
    FAIL_REASON_CHARACTERS,
)
from ._store import is_final


def report(connection: HttpConnection, path: str, damage: str) -> str:
    """Returns the platform's finding, as the end of an error message. Never raises for an answer."""
    log.warning("%s: the platform reads the checkpoint now, to check this", damage)
    body = _values.encode({"detail": damage[:FAIL_REASON_CHARACTERS]})
    backoff = Backoff(CHECKPOINT_BACKOFF_FIRST_S, CHECKPOINT_BACKOFF_MAX_S)
    ends_at = time.monotonic() + CHECKPOINT_PATIENCE_S
    away_ends_at = time.monotonic() + CHECKPOINT_DEFECT_S
    while True:
        reply: Reply | None = None
        try:
            reply = connection.request("POST", path, body)
            why = reply.problem()
        except UnreachableError as error:
            why = str(error)
        if reply is not None and reply.is_success():
            answer = reply.json()
            if answer.get("done"):
                return _RECORDED if answer.get("damaged") else _INTACT
            why = "it is still reading the files"
            away_ends_at = time.monotonic() + CHECKPOINT_DEFECT_S
        elif reply is not None and is_final(reply):
            return f"the platform does not check it ({why})"
        if time.monotonic() >= min(ends_at, away_ends_at):
            return (
                f"the platform cannot check it now ({why}), so a later run may start from it again"
            )
        time.sleep(backoff.next_s(reply))


_RECORDED = "the platform finds the same, and no later run starts from this checkpoint"
_INTACT = (
    "the platform finds it intact, so a later run may start from it again: "
    "check the mount and the file cache of this machine"
)
