"""Samples in a thread and reports summaries.

At each interval the thread reads each source and adds the values to the spreads; after ``samples_per_report``
samples each spread becomes a report and is reset. The thread draws no random numbers and changes no state of the
training, so that a training has the same result with and without it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any, Callable, NamedTuple

from .. import _log as log
from ._sources import Source

# A sampler that was on for a shorter time reports nothing.
MOMENT_S = 0.05
# The end of a run waits at most this long for a sample in progress.
STOP_S = 2.0

Report = Callable[[str, float, str, int, Any], None]


class Window(NamedTuple):
    """The first and the last step of the training whose samples are reported."""

    begin: float
    end: float | None


class Spread:
    """Minimum, mean and maximum of the samples so far."""

    __slots__ = ("count", "least", "most", "total")

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.least = float("inf")
        self.most = float("-inf")

    def add(self, value: float) -> None:
        self.count += 1
        self.total += value
        self.least = min(self.least, value)
        self.most = max(self.most, value)

    def message(self, name: str) -> dict[str, Any]:
        """The spread as proto JSON."""
        mean = self.total / self.count
        return {
            "name": name,
            "min": _short(self.least),
            "mean": _short(mean),
            "max": _short(self.most),
        }


def _short(value: float) -> float:
    """Rounds to six digits: measurements are not more precise, and a run of weeks has many values."""
    return float(f"{value:.6g}")


class Sampler:
    """Samples until it is stopped, or the training has passed the window."""

    def __init__(
        self,
        sources: Sequence[Source],
        report: Report,
        steps: Callable[[], float],
        interval_s: float,
        samples_per_report: int,
        window: Window,
    ) -> None:
        self._sources = sources
        self._report = report
        self._steps = steps
        self._interval_s = interval_s
        self._samples_per_report = samples_per_report
        self._window = window
        self._spreads: dict[tuple[str, str], dict[str, Spread]] = {}
        self._samples = 0
        self._reported = False
        self._warned = False
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="trainyard-profiler", daemon=True)

    def start(self) -> None:
        """Starts the sampling thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stops the thread, which reports its remaining samples."""
        self._stopping.set()
        self._thread.join(STOP_S)

    def _run(self) -> None:
        try:
            self._run_until_stopped()
        # A defect here must not stop the training.
        except Exception:
            log.exception("profiling has ended: the training continues without it")
        finally:
            for source in self._sources:
                source.close()

    def _run_until_stopped(self) -> None:
        for source in self._sources:
            # A first read sets the counters, so that rates start here.
            self._read(source, time.monotonic())
        began = time.monotonic()
        due = began + self._interval_s
        while not self._stopping.wait(max(0.0, due - time.monotonic())):
            if not self._sample():
                break
            # After a suspension of the machine, missed samples are skipped.
            due = max(due + self._interval_s, time.monotonic())
        nothing_yet = not self._reported and self._samples == 0
        if nothing_yet and time.monotonic() - began >= MOMENT_S:
            # A run that ends before the first sample was due reports figures, too.
            self._sample()
        self._flush()

    def _sample(self) -> bool:
        """Takes one sample of every source. Returns False after the training has passed the window."""
        steps = self._steps()
        if self._window.end is not None and steps > self._window.end:
            return False
        now_s = time.monotonic()
        in_window = steps >= self._window.begin
        for source in self._sources:
            for group, device, values in self._read(source, now_s):
                if in_window:
                    self._add(group, device, values)
        if in_window:
            self._samples += 1
            if self._samples >= self._samples_per_report:
                self._flush()
        return True

    def _read(self, source: Source, now_s: float) -> list[tuple[str, str, dict[str, float]]]:
        try:
            return source.read(now_s)
        except (OSError, ValueError, IndexError) as error:
            self._warn("a sample of %s is missing: %s", source.group, error)
            return []

    def _add(self, group: str, device: str, values: dict[str, float]) -> None:
        spreads = self._spreads.setdefault((group, device), {})
        for name, value in values.items():
            spread = spreads.get(name)
            if spread is None:
                spread = spreads[name] = Spread()
            spread.add(value)

    def _flush(self) -> None:
        """Reports the spreads and resets them."""
        spreads, self._spreads, self._samples = self._spreads, {}, 0
        steps = self._steps()
        for (group, device), named in spreads.items():
            values = [spread.message(name) for name, spread in named.items()]
            samples = max((spread.count for spread in named.values()), default=0)
            if samples == 0:
                continue
            try:
                self._report(group, steps, device, samples, values)
                self._reported = True
            except (OSError, RuntimeError) as error:
                self._warn("a report of %s was not stored: %s", group, error)

    def _warn(self, message: str, *arguments: object) -> None:
        if not self._warned:
            self._warned = True
            log.warning("profiling: " + message, *arguments)
