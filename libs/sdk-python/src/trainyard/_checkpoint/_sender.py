"""Has the platform declare and complete checkpoints, in a background thread, in the order in which
they were stored.

States of the thread: not started (no checkpoint yet), idle, asking, waiting to retry. A checkpoint is pending until the
platform has completed or refused it. The caller waits for this decision up to two seconds, and not at all while the
platform is known to be unavailable. A checkpoint that stays undecided for a reason of its own, like an unreadable
folder, moves behind the others after a while, and one that the platform cannot take yet at once; the thread waits only
when all pending ones are of this kind. A checkpoint that is pending when the process ends stays in the spool, and the
agent delivers it.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from .. import _log as log
from .._http import Backoff
from .._limits import (
    CHECKPOINT_AWAY_NOTICE_S,
    CHECKPOINT_BACKOFF_FIRST_S,
    CHECKPOINT_BACKOFF_MAX_S,
    CHECKPOINT_DEFECT_S,
    CHECKPOINT_NOTICE_S,
    CHECKPOINT_TURN_S,
    CHECKPOINT_WAIT_S,
    DISK_LOOK_S,
)
from ..errors import CheckpointError
from ._offers import Offers, Undecided
from ._refusals import is_lost
from ._room import Room
from ._spool import CheckpointSpool, Record
from ._store import is_defect
from ._uploads import Uploads


class CheckpointSender:
    """The background delivery of one process's checkpoints."""

    def __init__(
        self,
        spool: CheckpointSpool,
        root: Path,
        url: str,
        run: str,
        token: str,
        uploads: bool = False,
        disk_share: float = 1.0,
    ) -> None:
        self._spool = spool
        self.root = root
        # Whether the root is a local folder, from which checkpoints are uploaded to an object store.
        self.uploads = uploads
        self._disk_share = disk_share
        self._run_id = run
        self._url = url
        self._token = token
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        # Guards the fields below, and is notified whenever one of them changes.
        self._changed = threading.Condition()
        self._pending: dict[str, Record] = {}
        # A caller waits for the decision on these checkpoints; a refusal of any other is logged.
        self._awaited: set[str] = set()
        # The sealed folders of these checkpoints may have readers.
        self._read: set[str] = set()
        self._refusals: dict[str, CheckpointError] = {}
        # The checkpoints that wait alone and were asked about since the last wait. Only the thread uses them.
        self._waiting: set[str] = set()
        self._away_since: float | None = None
        self._why, self._is_silent = "no answer yet", True
        # The level at which the outage was logged; None: it was not.
        self._noted: Callable[..., None] | None = None
        self._lost_noted = False
        self._flushing = False
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._uploads = Uploads(self._url, self._run_id, self._token, self.root)
        self._offers = Offers(self._url, self._run_id, self._token, self.root, self._uploads)
        self._room = Room(self._disk_share)
        self._backoff = Backoff(CHECKPOINT_BACKOFF_FIRST_S, CHECKPOINT_BACKOFF_MAX_S)

    def check_open(self) -> None:
        """Raises RuntimeError once the context is closed."""
        if self._pid != os.getpid():
            # A forked child has neither its parent's thread nor the parent's checkpoints to deliver.
            self._offers.close()
            self._begin()
        if self._stopping:
            raise RuntimeError("the context is closed: store inside `with trainyard.init()`")

    def wait_for_room(self, uuid: str) -> None:
        """Waits for earlier uploads while all sealed checkpoints and one more would exceed their share of the disk."""
        self.check_open()
        notice_at = time.monotonic()
        with self._changed:
            # If the thread has ended, waiting frees no space: the agent delivers its checkpoints.
            while (
                self._pending
                and self._thread is not None
                and self._thread.is_alive()
                and self._room.is_short(self._spool.folder)
            ):
                if time.monotonic() >= notice_at:
                    message = (
                        "checkpoint %s waits for earlier uploads: %.0f MB of sealed checkpoints and "
                        "it would take more than %.0f%% of the free disk (TRAINYARD_CHECKPOINT_DISK_SHARE)"
                    )
                    log.warning(message, uuid, self._room.sealed / 1e6, 100 * self._room.share)
                    notice_at = time.monotonic() + CHECKPOINT_NOTICE_S
                self._changed.wait(DISK_LOOK_S)

    def submit(self, record: Record) -> None:
        """Queues a complete checkpoint for delivery."""
        self.check_open()
        # The record is in the spool before it is pending, so that it survives this process.
        self._spool.seal(record)
        with self._changed:
            self._pending[record.uuid] = record
            # An upload may take long: callers wait for it only if the disk is short of space.
            if self.uploads:
                self._room.add(record.uuid, sum(entry.bytes for entry in record.manifest))
            else:
                self._awaited.add(record.uuid)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="trainyard-checkpoints", daemon=True
                )
                self._thread.start()
            self._changed.notify_all()

    def wait(self, uuid: str) -> None:
        """Waits up to two seconds for the platform's decision. Raises CheckpointError if the platform refused the
        checkpoint; without a decision the training continues.
        """
        deadline = time.monotonic() + CHECKPOINT_WAIT_S
        with self._changed:
            while uuid in self._pending and not self._is_away():
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    # The platform is unavailable, even if a request merely hangs: the next checkpoint does not
                    # wait for it.
                    self._away_since = deadline - CHECKPOINT_WAIT_S
                    break
                self._changed.wait(min(left_s, self._until_away_s()))
            if uuid in self._pending:
                self._note_away(uuid)
            self._awaited.discard(uuid)
            refusal = self._refusals.pop(uuid, None)
        if refusal is not None:
            raise refusal

    def pending(self, uuid: str) -> Record | None:
        """The record of a checkpoint that the platform has not decided on, for reading: its folder is kept."""
        if self._pid != os.getpid():
            return None
        with self._changed:
            record = self._pending.get(uuid)
            if record is not None:
                self._read.add(uuid)
            return record

    def close(self, timeout_s: float) -> None:
        """Waits for pending checkpoints, then ends the thread and aborts a request that hangs."""
        if self._pid != os.getpid():
            return
        deadline = time.monotonic() + timeout_s
        with self._changed:
            self._flushing = True
            self._changed.notify_all()
            while self._pending and self._thread is not None and not self._is_away():
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    break
                self._changed.wait(min(left_s, self._until_away_s()))
            self._stopping = True
            self._changed.notify_all()
        self._offers.abort()
        self._uploads.end()
        if self._thread is not None:
            self._thread.join(1.0)
        if self.uploads:
            for uuid in self._read - self._pending.keys():
                self._uploads.remove(uuid)

    def _is_away(self) -> bool:
        return self._until_away_s() <= 0

    def _until_away_s(self) -> float:
        """Returns the seconds until the platform counts as unavailable. Waiters must use them as their timeout."""
        if self._away_since is None:
            return math.inf
        return self._away_since + CHECKPOINT_WAIT_S - time.monotonic()

    def _run(self) -> None:
        try:
            while True:
                record = self._next()
                if record is None:
                    return
                self._deliver(record)
        # A defect here must lose neither the training nor a checkpoint: the agent delivers the checkpoints.
        except Exception:
            log.exception("checkpoints are no longer delivered by this process, but by the agent")
        finally:
            self._offers.close()

    def _next(self) -> Record | None:
        with self._changed:
            while not self._pending and not self._stopping:
                self._changed.wait()
            return None if self._stopping else next(iter(self._pending.values()))

    def _deliver(self, record: Record) -> None:
        """Retries until the platform decides about the checkpoint, or another checkpoint should be tried."""
        defect_since: float | None = None
        own_since: float | None = None
        while not self._stopping:
            answer = self._offers.ask(record)
            if not isinstance(answer, Undecided):
                self._settle(record, answer)
                return
            if is_lost(answer.reply):
                self._leave_lost(record, answer.why)
                return
            if not is_defect(answer.reply):
                defect_since = None
            elif defect_since is None:
                defect_since = time.monotonic()
            elif time.monotonic() - defect_since > CHECKPOINT_DEFECT_S:
                self._leave(record, answer.why)
                return
            if not answer.own:
                own_since = None
            elif own_since is None:
                own_since = time.monotonic()
            elif time.monotonic() - own_since > CHECKPOINT_TURN_S and self._let_pass(record):
                return
            if answer.alone:
                self._wait_alone(record, answer)
                return
            self._wait_to_retry(record, answer)

    def _let_pass(self, record: Record) -> bool:
        """Moves a checkpoint behind the other pending ones. Returns False if there is no other."""
        with self._changed:
            if len(self._pending) == 1:
                return False
            self._pending[record.uuid] = self._pending.pop(record.uuid)
            return True

    def _wait_alone(self, record: Record, answer: Undecided) -> None:
        """Moves a checkpoint behind the others, and waits once all pending ones were asked about in vain."""
        self._waiting.add(record.uuid)
        self._let_pass(record)
        with self._changed:
            if not self._pending.keys() <= self._waiting:
                return
        self._wait_to_retry(record, answer)
        self._waiting.clear()

    def _settle(self, record: Record, refusal: CheckpointError | None) -> None:
        self._backoff.reset()
        if refusal is None and not record.is_part:
            self._spool.keep(record, self._uploads.digested(record.uuid))
        self._uploads.forget(record.uuid)
        self._spool.settle(record.uuid)
        with self._changed:
            del self._pending[record.uuid]
            is_read = record.uuid in self._read
            if refusal is not None:
                self._read.discard(record.uuid)
            away_since, noted = None, None
            if not self._pending:
                # The outage ends only when no checkpoint is pending.
                away_since, noted = self._away_since, self._noted
                self._away_since, self._noted = None, None
            awaited = record.uuid in self._awaited
            if refusal is not None and awaited:
                self._refusals[record.uuid] = refusal
            self._changed.notify_all()
        if self.uploads and refusal is None and not is_read:
            self._uploads.remove(record.uuid)
            with self._changed:
                self._room.remove(record.uuid)
                self._changed.notify_all()
        if refusal is not None and not awaited:
            log.warning("%s; the training continues without it", refusal)
        if away_since is not None and noted is not None:
            away_s = time.monotonic() - away_since
            noted("the platform accepts checkpoints again, after %.0f s", away_s)

    def _note_away(self, uuid: str) -> None:
        """Logs once why the platform does not confirm: as a warning if it says why, or if it has been silent for long.
        A short silence, as under load, is logged at debug level.
        """
        away_s = 0.0 if self._away_since is None else time.monotonic() - self._away_since
        is_short = self._is_silent and away_s <= CHECKPOINT_AWAY_NOTICE_S
        level = log.debug if is_short else log.warning
        if self._noted is None or (level is log.warning and self._noted is log.debug):
            self._noted = level
            message = (
                "the platform has not confirmed checkpoint %s yet (%s); nothing is lost: "
                "the checkpoint is on disk, its delivery is repeated, and training continues"
            )
            level(message, uuid, self._why)

    def _leave(self, record: Record, why: str) -> None:
        """Leaves a checkpoint to the agent and continues with the next: the platform may accept it later."""
        minutes = CHECKPOINT_DEFECT_S / 60
        log.warning(
            "the agent delivers checkpoint %s, which this process could not deliver for %.0f minutes: %s",
            record.uuid,
            minutes,
            why,
        )
        self._drop(record)

    def _leave_lost(self, record: Record, why: str) -> None:
        """Leaves a checkpoint of a run that the platform's log does not have, with one warning for the run."""
        if not self._lost_noted:
            self._lost_noted = True
            message = (
                "the platform stores nothing of this run any more (%s); checkpoint %s and later ones stay in %s, "
                "and training continues"
            )
            log.warning(message, why, record.uuid, self.root)
        self._drop(record)

    def _drop(self, record: Record) -> None:
        with self._changed:
            del self._pending[record.uuid]
            self._changed.notify_all()
        self._uploads.forget(record.uuid)

    def _wait_to_retry(self, record: Record, answer: Undecided) -> None:
        wait_s = self._backoff.next_s(answer.reply)
        started = time.monotonic()
        with self._changed:
            self._away_since = self._away_since or started
            self._why, self._is_silent = answer.why, answer.silent
            # Waiting for uploads of other hosts is not an outage.
            if not record.of_others and self._is_away():
                self._note_away(record.uuid)
            self._changed.notify_all()
            while not self._stopping:
                # The end of a run waits only for the shortest backoff.
                left_s = min(wait_s, CHECKPOINT_BACKOFF_FIRST_S) if self._flushing else wait_s
                left_s -= time.monotonic() - started
                if left_s <= 0:
                    break
                self._changed.wait(left_s)
