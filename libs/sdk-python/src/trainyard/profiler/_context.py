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

# The shortest interval: with a shorter one the sampling itself would dominate the figures.
INTERVAL_MIN_S = 0.1
SAMPLES_MAX = 100_000

Steps = Callable[[], float]


class ProfilerContext:
    """Samples the load of this node's machine.

    The groups are ``cpu``, ``memory``, ``disk``, ``network`` and ``gpu``, and ``throughput`` if the loop counts.
    The figures are of the whole machine. They are separate from the training's metrics: searches do not see them,
    and restarts do not discard them. No method raises because of the machine; a value that the machine lacks is
    left out, and one warning lists these.
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
        # LOCAL_RANK is set by the launcher, also for a process without a DistributedContext.
        from_env = os.environ.get("LOCAL_RANK", "")
        self._local_rank = local_rank or (int(from_env) if from_env.isdigit() else 0)
        self._throughput = Throughput()
        self._sampler: Sampler | None = None
        self._lock_fd = -1
        # A forked child has no sampler of its own, and must not stop its parent's.
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
        """Starts sampling every ``sampling_interval`` seconds (0.1 or more); a report has the minimum, mean and
        maximum of ``samples_per_report`` samples. Samples before the step ``begin_on_batch`` or after the step
        ``end_after_batch`` are dropped. Every rank may call this: only one process per node samples, its local
        rank 0 or, without ranks, the first that calls. A second call replaces the arguments of the first. Raises
        TypeError or ValueError for invalid arguments.
        """
        interval_s, samples = _interval_of(sampling_interval), _samples_of(samples_per_report)
        self._start(interval_s, samples, begin_on_batch, end_after_batch)

    def off(self) -> None:
        """Stops the sampling, and reports the samples since the last report. Does nothing if sampling is off."""
        sampler, self._sampler = self._sampler, None
        if sampler is not None and self._pid == os.getpid():
            sampler.stop()
            self._notify()
        self._unlock()

    def count(self, batches: int = 1, samples: int = 0) -> None:
        """Counts batches of the training, and the samples of all ranks in them, for the figures of ``throughput``.
        Takes about 0.1 µs.
        """
        throughput = self._throughput
        throughput.batches += batches
        throughput.samples += samples

    def _start(self, interval_s: float, samples: int, begin: float, end: float | None) -> None:
        self.off()
        if self._local_rank > 0 or not self._lock():
            return
        # A local import, since every import delays the script's start.
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
        """Whether this process is the one that samples its node."""
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
            # The lock is released explicitly: a forked child may still have the same open file.
            unlock(fd)
        os.close(fd)


def follow(profiler: ProfilerContext, config: Mapping[str, Any]) -> None:
    """Starts the profiling that the experiment's configuration requests in ``profiling``."""
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
