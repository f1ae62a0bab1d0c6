"""The totals of a run's reports: all samples of each quantity, and the speed of the steps."""

from __future__ import annotations

from typing import Any

Key = tuple[int, str, str, str]


class Total:
    """The totals of all samples of one quantity."""

    def __init__(self) -> None:
        self.samples = 0
        self.least = float("inf")
        self.most = float("-inf")
        self._sum = 0.0

    @property
    def mean(self) -> float:
        """The mean over the samples."""
        return self._sum / self.samples

    def add(self, samples: int, value: dict[str, Any]) -> None:
        """Adds the values of one report."""
        self.samples += samples
        self._sum += samples * value["mean"]
        self.least = min(self.least, value["min"])
        self.most = max(self.most, value["max"])


class Summary:
    """Sums samples by node, group, device and name."""

    def __init__(self) -> None:
        self.totals: dict[Key, Total] = {}
        self._first: tuple[float, float] | None = None
        self._last: tuple[float, float] | None = None

    def add(self, report: dict[str, Any], is_training: bool) -> None:
        """Adds a report of the spool."""
        sample = report.get("system")
        if sample is None:
            if is_training:
                self._last = (report["stepsCompleted"], report["atMs"])
                self._first = self._first or self._last
            return
        for value in sample["values"]:
            key = (sample["node"], report["group"], sample["device"], value["name"])
            self.totals.setdefault(key, Total()).add(sample["samples"], value)

    def pace(self) -> float | None:
        """Steps per second between the first and the last training report; None for fewer than two reports."""
        if self._first is None or self._last is None:
            return None
        seconds = (self._last[1] - self._first[1]) / 1000
        steps = self._last[0] - self._first[0]
        return steps / seconds if seconds > 0 and steps > 0 else None
