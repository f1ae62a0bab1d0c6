"""The thread that samples, and what it makes of the samples.

Waits for the next moment, reads each source, adds what it read to the spreads; after so many samples
each spread becomes a report and begins again. It draws nothing from any source of chance and touches
nothing of the training's, so that a training is the same with it and without.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any, Callable, NamedTuple

from .. import _log as log
from ._sources import Source

# A sampler that was on for less has nothing to report.
MOMENT_S = 0.05
# How long the end of a run waits for a sample that is being taken.
STOP_S = 2.0

Report = Callable[[str, float, str, int, Any], None]


class Window(NamedTuple):
    """From which step to which step of the training there is something to report."""

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
        """Its proto JSON."""
        mean = self.total / self.count
        return {
            "name": name,
            "min": _short(self.least),
            "mean": _short(mean),
            "max": _short(self.most),
        }


def _short(value: float) -> float:
    """To six digits: what was measured is not known to more, and a run of weeks has many of these."""
    return float(f"{value:.6g}")


class Sampler:
    """Samples until it is stopped, or the training has left the window."""

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
        """Starts the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread, which reports what it has."""
        self._stopping.set()
        self._thread.join(STOP_S)

    def _run(self) -> None:
        try:
            self._run_until_stopped()
        # A defect here must not cost the training.
        except Exception:
            log.exception("profiling has ended: the training continues without it")
        finally:
            for source in self._sources:
                source.close()

    def _run_until_stopped(self) -> None:
        for source in self._sources:
            # Rates are of what happens from here on.
            self._read(source, time.monotonic())
        began = time.monotonic()
        due = began + self._interval_s
        while not self._stopping.wait(max(0.0, due - time.monotonic())):
            if not self._sample():
                break
            # A suspended machine does not catch up on missed samples.
            due = max(due + self._interval_s, time.monotonic())
        nothing_yet = not self._reported and self._samples == 0
        if nothing_yet and time.monotonic() - began >= MOMENT_S:
            # Also a run that is over sooner than the first sample was due has figures.
            self._sample()
        self._flush()

    def _sample(self) -> bool:
        """Takes one sample of everything; False when the training has left the window."""
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
        """Reports what was sampled, and begins again."""
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
