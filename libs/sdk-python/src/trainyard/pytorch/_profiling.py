"""What is profiled of a training: the machine, how fast the batches go by, and PyTorch's traces."""

from __future__ import annotations

from typing import Any

from ..profiler import TorchProfiler


class Profiling:
    """The profilers of one context. Changes nothing of what is trained."""

    def __init__(self, core: Any) -> None:
        self._core = core
        self._traces: TorchProfiler | None = None
        self._started = False
        self._counts_samples = True
        self.counts = False
        """Whether ``count`` is wanted for each batch."""

    def trace(self, arguments: dict[str, Any]) -> None:
        """Has PyTorch's profiler trace the next training."""
        self._traces = TorchProfiler(
            self._core.tensorboard.path, self._core.distributed.rank, **arguments
        )

    def configure(self, enabled: bool, begin: int, end: int | None) -> None:
        """Samples the machine between these batches from here on, or no longer."""
        if enabled:
            self._core.profiler._start(1.0, 10, begin, end)
        else:
            self._core.profiler.off()

    def start(self, enabled: bool) -> None:
        """Begins with a training; ``enabled`` samples the machine for as long as that takes, where
        nothing does so already.
        """
        profiler = self._core.profiler
        if enabled and not profiler.is_on:
            profiler.on()
            self._started = True
        self.counts = profiler.is_on
        if self._traces is not None:
            self._traces.start()

    def count(self, trial: Any, batch: Any) -> None:
        """Counts a batch, and its samples in all processes."""
        samples = 0
        if self._counts_samples:
            try:
                samples = trial.get_batch_length(batch) * self._core.distributed.size
            except Exception:
                # A batch without a length trains as well: only a figure is missing.
                self._counts_samples = False
        self._core.profiler.count(1, samples)

    def step(self) -> None:
        """Says that a batch is over."""
        if self._traces is not None:
            self._traces.step()

    def stop(self) -> None:
        """Ends with the training."""
        traces, self._traces = self._traces, None
        if traces is not None:
            traces.stop()
        if self._started:
            self._started = False
            self._core.profiler.off()
        self.counts = False
