"""How far an experiment or a trial is: its progress, the time that it took, and about how long it still takes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))


class Progress:
    """The progress and the times of the platform's object, as of the request."""

    def __init__(self, message: Mapping[str, Any]) -> None:
        self.progress = float(message.get("progress") or 0)
        self.created_at_ms = _number(message, "createdAtMs")
        self.ended_at_ms = _number(message, "endedAtMs")
        self.estimated_end_at_ms = _number(message, "estimatedEndAtMs")
        self.metric_warning = str(message.get("warning") or "")
        self._ran_ms = float(message.get("ranMs") or 0)
        self._running_since_ms = _number(message, "runningSinceMs")
        self._read_at_ms = time.time() * 1000

    @property
    def elapsed_s(self) -> float | None:
        """The seconds from the creation to the end, or to the request; None if the creation is unknown."""
        if self.created_at_ms is None:
            return None
        until = self._read_at_ms if self.ended_at_ms is None else self.ended_at_ms
        return _seconds(until - self.created_at_ms)

    @property
    def ran_s(self) -> float:
        """The seconds in which at least one run trained, without pauses and the time in the queue."""
        since = self._running_since_ms
        running = 0 if since is None else max(0, self._read_at_ms - since)
        return _seconds(self._ran_ms + running)

    @property
    def left_s(self) -> float | None:
        """About the seconds until the end, from the rate so far; None if nobody knows."""
        end = self.estimated_end_at_ms
        return None if end is None else _seconds(end - self._read_at_ms) or None


def percent_text(share: float) -> str:
    """Returns a share from 0 to 1 as ``37%``; 100% only for 1."""
    return f"{min(100, max(0, int(share * 100 + 1e-9)))}%"


def duration_text(seconds: float) -> str:
    """Returns a duration as ``1h 2m 3s``."""
    rest = round(seconds)
    parts: list[str] = []
    for size, unit in _UNITS:
        if rest >= size:
            parts.append(f"{rest // size}{unit}")
            rest %= size
    return " ".join(parts) or "0s"


def left_text(seconds: float | None) -> str:
    """Returns an estimate in one unit: the seconds of an hour are no information. Empty for an unknown one."""
    return "" if not seconds else duration_text(seconds).split(" ", 1)[0]


def _seconds(ms: float) -> float:
    return round(max(0.0, ms) / 1000, 1)


def _number(message: Mapping[str, Any], name: str) -> float | None:
    value = message.get(name)
    return None if value is None else float(value)
