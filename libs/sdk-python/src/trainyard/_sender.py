"""Delivers the spool to the metrics service from a background thread.

States of the thread: waiting for the sender's lock (one process of a run sends, the others only write), idle (the
whole file is acknowledged), sending, waiting to retry, refused (the service accepts no further reports of this
run).

The thread reads only the spool's file. Reports of another process, and reports left by a crash, are thus
delivered, too. The offset in ``reports.acked`` moves only when the service has answered, so every report is sent
at least once; its key makes a repeat harmless. The disk space before the offset is freed in pieces if the file
system supports holes.
"""

from __future__ import annotations

import enum
import os
import threading
import time
from typing import NamedTuple
from urllib.parse import quote

from . import _log as log
from . import _spool
from ._files import punch_hole, sync_file, try_lock, write_by_rename
from ._http import Backoff, HttpConnection, Reply, UnreachableError, trace_headers
from ._limits import (
    BATCH_BYTES_MAX,
    BATCH_REPORTS_MAX,
    SEND_BACKOFF_FIRST_S,
    SEND_BACKOFF_MAX_S,
    SEND_INTERVAL_S,
    SEND_TIMEOUT_S,
    SPOOL_PIECE_BYTES,
    SPOOL_POLL_S,
)

LOCK = "sender.lock"


class Outcome(enum.Enum):
    """The meaning of an answer for the batch."""

    DELIVERED = "delivered"
    RETRY = "retry"
    # A later run repeats some of the reports. The others were stored.
    SUPERSEDED = "superseded"
    # The batch as a whole is too large, or one of its reports is invalid: send fewer reports per request.
    SPLIT = "split"
    # The token is refused, or the platform's log has lost the history of this run.
    REFUSED = "refused"


class Batch(NamedTuple):
    """Lines of the spool, and the offset of the next batch."""

    lines: list[bytes]
    end: int


def outcome_of(reply: Reply) -> Outcome:
    """The outcome that an answer means."""
    if reply.is_success():
        return Outcome.DELIVERED
    # Proxies have limits for the size of requests, too.
    if reply.status == 413:
        return Outcome.SPLIT
    if not reply.is_of_platform():
        return Outcome.RETRY
    if reply.status in (400, 422):
        return Outcome.SPLIT
    if reply.status == 409:
        return Outcome.SUPERSEDED
    if reply.status in (401, 403, 410):
        return Outcome.REFUSED
    return Outcome.RETRY


def read_batch(fd: int, offset: int, reports_max: int) -> Batch:
    """Reads the complete lines from ``offset`` that fit into one request, and skips invalid lines."""
    chunk = os.pread(fd, BATCH_BYTES_MAX, offset)
    lines: list[bytes] = []
    used = 0
    while len(lines) < reports_max:
        newline = chunk.find(b"\n", used)
        if newline < 0:
            break
        line = chunk[used:newline]
        used = newline + 1
        if _spool.parse_line(line) is not None:
            lines.append(line)
        elif line:
            log.warning("an incomplete line of %d bytes in the spool was skipped", len(line))
    if used == 0 and len(chunk) == BATCH_BYTES_MAX:
        # A line this long cannot be a report: it is a hole, read because the offset was lost.
        used = len(chunk)
    return Batch(lines, offset + used)


class Sender:
    """The background delivery of one run's spool."""

    def __init__(self, spool: _spool.Spool, url: str, run: str, token: str) -> None:
        self._spool = spool
        self._path = f"/api/v1/runs/{quote(run, safe='')}/reports"
        self._connection = HttpConnection(url, token, SEND_TIMEOUT_S)
        # The platform links the trace of each report to the launch of the run.
        self._headers = trace_headers()
        self._backoff = Backoff(SEND_BACKOFF_FIRST_S, SEND_BACKOFF_MAX_S)
        self._reports_max = BATCH_REPORTS_MAX
        self._written = threading.Event()
        self._stopping = threading.Event()
        # Guards the fields below, and is notified whenever one of them changes.
        self._changed = threading.Condition()
        self._acked = _spool.read_acked(spool.folder)
        self._retry_at = 0.0
        self._over = False
        # The offset up to which the spool's disk space was freed.
        self._punched = 0
        self._can_punch = True
        self._flushing = False
        self._unreachable_since: float | None = None
        self._is_superseded = False
        self._thread = threading.Thread(target=self._run, name="trainyard-sender", daemon=True)

    def start(self) -> None:
        """Starts the sending thread."""
        self._thread.start()

    def notify(self) -> None:
        """Wakes the thread after a report was written. Takes about a microsecond."""
        if not self._written.is_set():
            self._written.set()

    def flush(self, timeout_s: float) -> bool:
        """Waits until everything in the spool is acknowledged, and returns whether it is. Returns early if waiting
        is pointless: the service refuses this run, its Retry-After exceeds the timeout, or another process sends.
        """
        goal = self._spool.size()
        deadline = time.monotonic() + timeout_s
        with self._changed:
            self._flushing = True
            self._changed.notify_all()
        self._written.set()
        with self._changed:
            while self._acked < goal:
                left_s = deadline - time.monotonic()
                if left_s <= 0 or self._over or self._retry_at > deadline:
                    break
                self._changed.wait(left_s)
            self._flushing = False
            return self._acked >= goal

    def stop(self, timeout_s: float) -> None:
        """Ends the thread and aborts a request that hangs. Unacknowledged reports stay in the spool."""
        self._stopping.set()
        self._written.set()
        with self._changed:
            self._changed.notify_all()
        self._connection.abort()
        self._thread.join(timeout_s)

    def _run(self) -> None:
        try:
            self._run_until_stopped()
        # A defect here must lose neither the training nor a report: the agent delivers the spool.
        except Exception:
            log.exception(
                "the sender of reports has ended; the agent delivers what is in the spool"
            )
        finally:
            with self._changed:
                self._over = True
                self._changed.notify_all()
            self._connection.close()

    def _run_until_stopped(self) -> None:
        lock = os.open(self._spool.folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            if not self._wait_for_lock(lock):
                return
            # Opened for writing only to punch holes.
            fd = os.open(self._spool.path, os.O_RDWR | os.O_CLOEXEC)
            try:
                self._deliver(fd)
            finally:
                os.close(fd)
        finally:
            os.close(lock)

    def _wait_for_lock(self, lock: int) -> bool:
        while not try_lock(lock):
            # Another process of this run sends: wait for its recorded offset.
            self._record_acked(_spool.read_acked(self._spool.folder))
            with self._changed:
                if not self._stopping.is_set():
                    self._changed.wait(SEND_INTERVAL_S if self._flushing else SPOOL_POLL_S)
            if self._stopping.is_set():
                return False
        self._record_acked(_spool.read_acked(self._spool.folder))
        return True

    def _deliver(self, fd: int) -> None:
        while not self._stopping.is_set():
            # The flag is cleared before the file is read: a later report sets it again.
            self._written.clear()
            batch = read_batch(fd, self._acked, self._reports_max)
            if batch.end == self._acked:
                self._written.wait(SPOOL_POLL_S)
                continue
            outcome, reply = self._send(batch)
            if outcome in (Outcome.DELIVERED, Outcome.SUPERSEDED):
                if outcome is Outcome.SUPERSEDED:
                    self._note_superseded(reply)
                self._note_refused(reply)
                self._advance(batch.end)
                self._shrink(fd)
                self._reports_max = min(self._reports_max * 2, BATCH_REPORTS_MAX)
                if not self._flushing:
                    self._stopping.wait(SEND_INTERVAL_S)
            elif outcome is Outcome.SPLIT:
                self._split(batch, reply)
            elif outcome is Outcome.REFUSED:
                self._note_refusal(reply)
                return
            else:
                self._wait_to_retry(reply)

    def _send(self, batch: Batch) -> tuple[Outcome, Reply | None]:
        if not batch.lines:
            return Outcome.DELIVERED, None
        body = b'{"refuseAlone":true,"reports":[' + b",".join(batch.lines) + b"]}"
        asked_at = time.monotonic()
        try:
            reply = self._connection.request("POST", self._path, body, self._headers)
        except UnreachableError as error:
            self._note_unreachable(str(error), asked_at)
            return Outcome.RETRY, None
        outcome = outcome_of(reply)
        if outcome is Outcome.RETRY:
            self._note_unreachable(reply.problem(), asked_at)
        else:
            self._note_reachable()
        return outcome, reply

    def _note_refused(self, reply: Reply | None) -> None:
        """Warns of reports that the service refused. They are not sent again."""
        refused = [] if reply is None else reply.json().get("refused")
        if not isinstance(refused, list) or not refused:
            return
        shown = "; ".join(
            f"{one.get('key')} ({one.get('reason')})"
            for one in refused[:3]
            if isinstance(one, dict)
        )
        more = f" and {len(refused) - 3} more" if len(refused) > 3 else ""
        log.warning("the metrics service refuses %d reports: %s%s", len(refused), shown, more)

    def _split(self, batch: Batch, reply: Reply | None) -> None:
        if len(batch.lines) > 1:
            self._reports_max = max(1, len(batch.lines) // 2)
            return
        report = _spool.parse_line(batch.lines[0]) or {}
        log.warning(
            "the metrics service refuses report %s (group %r, step %s): %s",
            report.get("key"),
            report.get("group"),
            report.get("stepsCompleted"),
            reply.problem() if reply is not None else "no answer",
        )
        self._advance(batch.end)

    def _advance(self, end: int) -> None:
        self._backoff.reset()
        try:
            write_by_rename(self._spool.folder / _spool.ACKED, str(end).encode("ascii"))
        except OSError as error:
            # Without the offset, reports are sent again, which is harmless.
            log.warning("the acknowledged offset could not be recorded: %s", error)
        self._record_acked(end)

    def _shrink(self, fd: int) -> None:
        """Frees whole pieces of the delivered part on the disk, except the file's end, from which the next
        report's number is read.
        """
        end = min(self._acked, self._spool.size() - _spool.TAIL_BYTES)
        end -= end % SPOOL_PIECE_BYTES
        if not self._can_punch or end <= self._punched:
            return
        try:
            # The recorded offset is synced first, so that after a power loss no freed range is read.
            sync_file(self._spool.folder / _spool.ACKED)
            if _spool.read_acked(self._spool.folder) < end:
                return
            self._can_punch = punch_hole(fd, self._punched, end - self._punched)
        except OSError as error:
            self._can_punch = False
            log.debug("the spool cannot be shortened: %s", error)
        if self._can_punch:
            self._punched = end

    def _record_acked(self, end: int) -> None:
        with self._changed:
            self._acked = max(self._acked, end)
            self._changed.notify_all()

    def _wait_to_retry(self, reply: Reply | None) -> None:
        wait_s = self._backoff.next_s(reply)
        has_retry_after = reply is not None and reply.retry_after_s() is not None
        with self._changed:
            started = time.monotonic()
            self._retry_at = started + wait_s if has_retry_after else 0.0
            self._changed.notify_all()
            while not self._stopping.is_set():
                # At the end of a run, only the service's Retry-After is waited for, not the backoff.
                end = started + (
                    SEND_BACKOFF_FIRST_S if self._flushing and not has_retry_after else wait_s
                )
                left_s = end - time.monotonic()
                if left_s <= 0:
                    break
                self._changed.wait(left_s)
            self._retry_at = 0.0

    def _note_superseded(self, reply: Reply | None) -> None:
        """Warns once. Later reports are sent, since samples of the machine are not superseded."""
        if not self._is_superseded and reply is not None:
            self._is_superseded = True
            log.warning(
                "this run has been superseded, so reports of repeated steps are not stored: %s",
                reply.problem(),
            )

    def _note_refusal(self, reply: Reply | None) -> None:
        log.warning(
            "the metrics service refuses this run's token, so reports stay in the spool: %s",
            reply.problem() if reply is not None else "no answer",
        )

    def _note_unreachable(self, why: str, asked_at: float) -> None:
        """``asked_at`` is the time when the request began: a request that hangs fails only after half a minute."""
        if self._unreachable_since is None and not self._stopping.is_set():
            self._unreachable_since = asked_at
            log.warning(
                "the metrics service cannot accept reports (%s); nothing is lost: "
                "they are kept on disk and delivered later, and training continues",
                why,
            )

    def _note_reachable(self) -> None:
        if self._unreachable_since is not None:
            away_s = time.monotonic() - self._unreachable_since
            self._unreachable_since = None
            log.warning("the metrics service accepts reports again, after %.0f s", away_s)
