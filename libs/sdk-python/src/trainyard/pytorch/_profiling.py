"""Profiles a training: the machine, the speed of the batches, and PyTorch's traces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._distributed import Ranks
from ..profiler import ProfilerContext, TorchProfiler
from ..tensorboard import TensorBoardContext

if TYPE_CHECKING:
    from ._trial import PyTorchTrial


class Profiling:
    """The profilers of one context. They change nothing of the training's results."""

    def __init__(self, tensorboard: TensorBoardContext, distributed: Ranks) -> None:
        self._tensorboard = tensorboard
        self._distributed = distributed
        self._profiler: ProfilerContext | None = None
        self._traces: TorchProfiler | None = None
        self._started = False
        self._counts_samples = True
        self.counts = False
        """Whether ``count`` must be called for each batch."""

    def trace(self, arguments: dict[str, Any]) -> None:
        """Makes PyTorch's profiler trace the next training."""
        self._traces = TorchProfiler(self._tensorboard.path, self._distributed.rank, **arguments)

    def start(self, profiler: ProfilerContext, enabled: bool) -> None:
        """Starts with a training. ``enabled`` samples the machine during the training, unless it is being sampled
        already.
        """
        self._profiler = profiler
        if enabled and not profiler.is_on:
            profiler.on()
            self._started = True
        self.counts = profiler.is_on
        if self._traces is not None:
            self._traces.start()

    def count(self, trial: PyTorchTrial, batch: object) -> None:
        """Counts a batch, and its samples in all processes."""
        samples = 0
        if self._counts_samples:
            try:
                samples = trial.get_batch_length(batch) * self._distributed.size
            except Exception:
                # A batch without a length is trained on, too: only its sample count is missing.
                self._counts_samples = False
        if self._profiler is not None:
            self._profiler.count(1, samples)

    def step(self) -> None:
        """Records the end of a batch."""
        if self._traces is not None:
            self._traces.step()

    def stop(self) -> None:
        """Stops at the end of the training."""
        traces, self._traces = self._traces, None
        if traces is not None:
            traces.stop()
        if self._started and self._profiler is not None:
            self._started = False
            self._profiler.off()
        self.counts = False
