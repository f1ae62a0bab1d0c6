"""Watches for stop requests: from the gateway, in a background thread, and from the agent, by a file in the run's
folder.

The agent writes the file when its host is shut down. The file is checked when the script asks, at most twice a
second. The thread polls ``GET /api/v1/runs/{run}/signals``, which answers at a stop or when its wait is over. The
platform may withdraw a stop, so the thread asks again until the script has read the stop. A stop that the script has
read stays. Network failures never reach the script.
"""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from urllib.parse import quote

from . import _log as log
from ._http import Backoff, HttpConnection, Reply, UnreachableError
from ._limits import (
    SIGNAL_BACKOFF_FIRST_S,
    SIGNAL_BACKOFF_MAX_S,
    SIGNAL_FIRST_S,
    SIGNAL_INTERVAL_S,
    SIGNAL_MARGIN_S,
    SIGNAL_PENDING_S,
    SIGNAL_REFUSED_S,
    SIGNAL_WAIT_MS,
    STOP_FILE_S,
)

STOP_FILE = "stop.json"


class StopFile:
    """The agent's stop request, a file in the run's folder. The file is checked at most twice a second."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._look_at = 0.0
        self._why: str | None = None

    def why(self) -> str | None:
        """The reason to stop; None without a stop request."""
        now = time.monotonic()
        if self._path is None or self._why is not None or now < self._look_at:
            return self._why
        self._look_at = now + STOP_FILE_S
        try:
            # The file is written by rename, so it is never incomplete.
            request = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return None
        why = request.get("why") if isinstance(request, dict) else None
        self._why = str(why or "stop")
        return self._why


class SignalWatcher:
    """Watches whether the run was asked to stop, and why."""

    def __init__(self, url: str, run: str, token: str, stop_file: Path | None = None) -> None:
        self._stop_file = StopFile(stop_file)
        self._url = url
        self._token = token
        self._path = f"/api/v1/runs/{quote(run, safe='')}/signals?wait_ms="
        # The reason in the platform's last answer; None while the run should continue.
        self._asked: str | None = None
        # The reason that the script has read, after which no answer counts.
        self._read: str | None = None
        self._start_thread()

    @property
    def stop(self) -> bool:
        """Whether the run should stop. Returns at once; after a yes the answer stays yes."""
        if self._pid != os.getpid():
            # A forked child has its parent's last answer, but not its parent's thread.
            self._start_thread()
        if self._read is None:
            self._read = self._stop_file.why() or self._asked
            if self._read is not None:
                log.info("a stop was requested: %s", self._read)
        return self._read is not None

    @property
    def why(self) -> str:
        """The reason to stop: pause, search_stop, cancel, preempted, …; empty while the run should continue."""
        return self._read or self._asked or ""

    def close(self) -> None:
        """Ends the thread and aborts a request that waits for its answer."""
        self._closing.set()
        self._connection.abort()
        if self._thread.is_alive():
            self._thread.join(1.0)

    def _start_thread(self) -> None:
        self._pid = os.getpid()
        self._closing = threading.Event()
        timeout_s = SIGNAL_WAIT_MS / 1000 + SIGNAL_MARGIN_S
        self._connection = HttpConnection(self._url, self._token, timeout_s)
        self._backoff = Backoff(SIGNAL_BACKOFF_FIRST_S, SIGNAL_BACKOFF_MAX_S)
        self._refused = False
        self._thread = threading.Thread(target=self._run, name="trainyard-signals", daemon=True)
        if self._read is None:
            self._thread.start()

    def _run(self) -> None:
        try:
            # The first poll is delayed, because its imports would slow down the script's start.
            self._closing.wait(SIGNAL_FIRST_S)
            while self._read is None and not self._closing.is_set():
                self._closing.wait(self._ask_once())
        # A defect here must not stop the training; the platform can still kill the run.
        except Exception:
            log.exception("the watch for stop requests has ended")
        finally:
            self._connection.close()

    def _ask_once(self) -> float:
        """Polls once, and returns the wait before the next poll."""
        started = time.monotonic()
        # A gateway answers at a stop, and not at the end of one.
        wait_ms = SIGNAL_WAIT_MS if self._asked is None else 0
        try:
            reply = self._connection.request("GET", f"{self._path}{wait_ms}")
        except UnreachableError as error:
            if not self._closing.is_set():
                log.debug("the gateway could not be asked whether to stop: %s", error)
            return self._backoff.next_s()
        if reply.is_success():
            self._backoff.reset()
            self._refused = False
            return self._take(reply, time.monotonic() - started)
        if not reply.is_of_platform():
            return self._backoff.next_s(reply)
        if reply.status == 409:
            self._asked = "superseded"
            return SIGNAL_PENDING_S
        if reply.status in (401, 403, 410):
            if not self._refused:
                log.warning("the gateway refuses this run's token: %s", reply.problem())
                self._refused = True
            return SIGNAL_REFUSED_S
        return self._backoff.next_s(reply)

    def _take(self, reply: Reply, took_s: float) -> float:
        answer = reply.json()
        if answer.get("stop") is True:
            self._asked = str(answer.get("why") or "stop")
            return SIGNAL_PENDING_S
        self._asked = None
        return max(0.0, SIGNAL_INTERVAL_S - took_s)
