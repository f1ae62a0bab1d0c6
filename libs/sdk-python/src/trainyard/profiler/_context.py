"""``ctx.profiler``: turns the sampling of this node on and off."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable

from .. import _log as log
from .._files import try_lock
from .._sender import Sender
from .._spool import Spool
from ._throughput import Throughput

if TYPE_CHECKING:
    from ._sampler import Sampler

LOCK = "profiler.lock"

# Oftener the sampling itself would be what it finds.
INTERVAL_MIN_S = 0.1
SAMPLES_MAX = 100_000

Steps = Callable[[], float]


class ProfilerContext:
    """Samples what this node's machine does, and reports it as the groups ``cpu``, ``memory``,
    ``disk``, ``network`` and ``gpu``, and ``throughput`` where the loop counts.

    The figures are of the whole machine. They are kept apart from the metrics of the training: no
    search sees them, and no restart takes them back. Nothing here raises because of the machine;
    what it does not report is left out, and named in one warning.
    """

    def __init__(
        self,
        spool: Spool,
        sender: Sender | None,
        steps: Steps,
        node: int,
        local_rank: int = 0,
    ) -> None:
        self._spool = spool
        self._sender = sender
        self._reported_steps = steps
        self._steps_at_start = steps()
        self._node = node
        # The launcher reports the processes that it started and that did not join.
        from_env = os.environ.get("LOCAL_RANK", "")
        self._local_rank = local_rank or (int(from_env) if from_env.isdigit() else 0)
        self._throughput = Throughput()
        self._sampler: Sampler | None = None
        self._lock_fd = -1
        # A forked child has no sampler of its own, and must not end its parent's.
        self._pid = os.getpid()

    @property
    def is_on(self) -> bool:
        """Whether this process samples its node."""
        return self._sampler is not None and self._pid == os.getpid()

    def on(
        self,
        sampling_interval: float = 1,
        samples_per_report: int = 10,
        *,
        begin_on_batch: float = 0,
        end_after_batch: float | None = None,
    ) -> None:
        """Starts sampling every ``sampling_interval`` seconds (0.1 or more); a report has the
        minimum, mean and maximum of ``samples_per_report`` samples. Nothing is kept of what was before
        ``begin_on_batch`` or is after ``end_after_batch``, in steps.

        Every rank may call it: the first process of each node that does samples, and of a node's ranks the
        one of local rank 0. A second call continues with its own arguments. Raises
        TypeError or ValueError for arguments that are none of these.
        """
        interval_s, samples = _interval_of(sampling_interval), _samples_of(samples_per_report)
        self._start(interval_s, samples, begin_on_batch, end_after_batch)

    def off(self) -> None:
        """Ends the sampling, and reports what was sampled since the last report. Does nothing when
        it is off.
        """
        sampler, self._sampler = self._sampler, None
        if sampler is not None and self._pid == os.getpid():
            sampler.stop()
            self._notify()
        self._unlock()

    def count(self, batches: int = 1, samples: int = 0) -> None:
        """Says that the training has gone on by so many batches, and samples of all ranks together.

        From this come the figures of ``throughput``. Costs about 0.1 µs.
        """
        throughput = self._throughput
        throughput.batches += batches
        throughput.samples += samples

    def _start(self, interval_s: float, samples: int, begin: float, end: float | None) -> None:
        self.off()
        if self._local_rank > 0 or not self._lock():
            return
        # Loaded here, since a script's start waits for what is loaded before.
        from ._machine import sources_here
        from ._sampler import Sampler, Window

        self._pid = os.getpid()
        sources, missing = sources_here(self._throughput)
        if missing:
            log.warning("profiling: this machine has no figures for %s", ", ".join(missing))
        window = Window(begin, end)
        self._sampler = Sampler(sources, self._report, self._steps, interval_s, samples, window)
        self._sampler.start()

    def _steps(self) -> float:
        return max(self._reported_steps(), self._steps_at_start + self._throughput.batches)

    def _report(self, group: str, steps: float, device: str, samples: int, values: object) -> None:
        sample = {"node": self._node, "device": device, "samples": samples, "values": values}
        self._spool.append_system(group, steps, sample)
        self._notify()

    def _notify(self) -> None:
        if self._sender is not None:
            self._sender.notify()

    def _lock(self) -> bool:
        """Whether this process is the one that samples on this node."""
        try:
            self._lock_fd = os.open(
                self._spool.folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644
            )
        except OSError as error:
            log.warning("profiling: nothing is sampled on this node: %s", error)
            return False
        if try_lock(self._lock_fd):
            return True
        os.close(self._lock_fd)
        self._lock_fd = -1
        return False

    def _unlock(self) -> None:
        from .._files import unlock

        fd, self._lock_fd = self._lock_fd, -1
        if fd < 0:
            return
        if self._pid == os.getpid():
            # Said aloud: a forked child may still hold the same open file.
            unlock(fd)
        os.close(fd)


def follow(profiler: ProfilerContext, config: Mapping[str, Any]) -> None:
    """Starts what ``profiling`` in the experiment's configuration asks for."""
    section = config.get("profiling")
    if isinstance(section, Mapping) and section.get("enabled") is True:
        profiler.on(
            begin_on_batch=section.get("begin_on_batch") or 0,
            end_after_batch=section.get("end_after_batch"),
        )


def _interval_of(value: int | float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(
            f"profiler.on: sampling_interval must be a number of seconds, not {type(value).__name__}"
        )
    if not math.isfinite(value) or value < INTERVAL_MIN_S:
        raise ValueError(
            f"profiler.on: sampling_interval must be {INTERVAL_MIN_S} s or more, not {value}"
        )
    return float(value)


def _samples_of(value: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(
            f"profiler.on: samples_per_report must be a whole number, not {type(value).__name__}"
        )
    if not 1 <= value <= SAMPLES_MAX:
        raise ValueError(
            f"profiler.on: samples_per_report must be from 1 to {SAMPLES_MAX:,}, not {value}"
        )
    return value
