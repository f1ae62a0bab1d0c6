"""Offers one sealed checkpoint to the platform: declares it, uploads its files if an object store has them, and
completes it. Offering a checkpoint twice is harmless.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, Union
from urllib.parse import quote

from .. import _values
from .._http import HttpConnection, Reply, UnreachableError
from .._limits import FAIL_REASON_CHARACTERS, SEND_TIMEOUT_S
from ..errors import CheckpointError
from ._refusals import is_refusal, says_incomplete, waits_alone
from ._spool import Record
from ._store import folder_of, refusal_of
from ._uploads import Uploads


class Undecided(NamedTuple):
    """The platform has not decided on a checkpoint; ask again. ``own``: the cause may affect this checkpoint only.
    ``alone``: it does. ``silent``: there was no answer.
    """

    reply: Reply | None
    why: str
    own: bool = False
    silent: bool = False
    alone: bool = False


Answer = Union[None, CheckpointError, Undecided]
"""None once the checkpoint is complete."""


class Offers:
    """The requests of one run about its checkpoints. Only ``abort`` may be called from a second thread."""

    def __init__(self, url: str, run: str, token: str, root: Path, uploads: Uploads) -> None:
        self._root = root
        self._uploads = uploads
        self._run_path = f"/api/v1/runs/{quote(run, safe='')}/checkpoints"
        self._connection = HttpConnection(url, token, SEND_TIMEOUT_S)

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    def abort(self) -> None:
        """Ends a request that hangs, and prevents further ones."""
        self._connection.abort()

    def ask(self, record: Record) -> Answer:
        """Declares and completes a checkpoint."""
        try:
            return self._ask(record)
        except UnreachableError as error:
            return Undecided(None, str(error), silent=True)

    def _ask(self, record: Record) -> Answer:
        """Declares and completes a checkpoint."""
        failing = f"checkpoint {record.uuid} could not be declared"
        reply = self._post(self._run_path, record.declaration())
        if reply.is_success() and reply.json().get("store"):
            return self._upload(record, str(reply.json()["store"]))
        if reply.is_success():
            try:
                folder = folder_of(record.uuid, reply.json())
            except CheckpointError as error:
                return self._refused(record, error)
            if folder != self._root / record.uuid:
                why = f"the platform stores it in {folder}, but the agent named {self._root}"
                # A person has to check which of the two mounts is wrong. Waiting loses nothing.
                return Undecided(None, f"{failing}: {why}: is the same storage mounted at both?")
            return self._complete(record, record.completion())
        return self._undone(record, failing, reply, own=False)

    def _complete(self, record: Record, completion: dict[str, Any]) -> Answer:
        reply = self._post(self._path(record, "complete"), completion)
        if reply.is_success():
            return None
        failing = f"checkpoint {record.uuid} could not be completed"
        return self._undone(record, failing, reply, own=True)

    def _undone(self, record: Record, failing: str, reply: Reply, own: bool) -> Answer:
        if not is_refusal(reply):
            return Undecided(reply, reply.problem(), own, alone=waits_alone(reply))
        return self._refused(record, refusal_of(failing, reply))

    def _upload(self, record: Record, store: str) -> Answer:
        """Uploads the files in a separate process, and completes the checkpoint."""
        sent = self._uploads.send(record, store)
        if sent.is_sent and record.is_part:
            return None
        if sent.is_sent:
            return self._complete(record, {"manifest": [*(sent.manifest or []), *record.of_others]})
        if not sent.refused:
            return Undecided(None, sent.why, own=True)
        # Other hosts may be waiting for these files.
        failure = {"reason": sent.why[:FAIL_REASON_CHARACTERS]}
        answer = self._post(self._path(record, "fail"), failure)
        if not answer.is_success() and not is_refusal(answer):
            return Undecided(answer, answer.problem(), own=True)
        why = f"checkpoint {record.uuid} could not be sent: {sent.why}"
        return self._refused(record, CheckpointError(why))

    def _refused(self, record: Record, refusal: CheckpointError) -> Answer:
        """Handles a refusal. An earlier attempt whose answer was lost may have completed the checkpoint."""
        plan = self._connection.request("GET", f"/api/v1/checkpoints/{quote(record.uuid)}/plan")
        if plan.is_success():
            return None
        if not says_incomplete(plan):
            return Undecided(plan, plan.problem())
        # The checkpoint will never be complete, but its files are stored. The platform removes them later: this host
        # may be the one with the wrong mount.
        folder = self._root / record.uuid
        return type(refusal)(
            f"{refusal}; its files stay in {folder} until the platform removes them"
        )

    def _path(self, record: Record, action: str) -> str:
        return f"{self._run_path}/{quote(record.uuid, safe='')}/{action}"

    def _post(self, path: str, message: object) -> Reply:
        return self._connection.request("POST", path, _values.encode(message))
