"""PyTorch's profiler over a training loop. Its traces are stored with the TensorBoard files."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class TorchProfiler:
    """Runs ``torch.profiler.profile`` with its traces in TensorBoard's folder.

    ``arguments`` are those of ``torch.profiler.profile``: ``activities``, ``schedule``, ``record_shapes``,
    ``profile_memory`` and so on. Without ``on_trace_ready`` each trace becomes a file
    ``rank-<n>.<time>.pt.trace.json.gz`` in ``folder``. Without ``schedule`` the third to the fifth batch are
    traced, once, since a trace of all batches grows without bound.

    Call ``start``, then ``step`` after each batch, then ``stop``, which also writes an unfinished trace.
    """

    def __init__(self, folder: Path, rank: int, **arguments: object) -> None:
        import torch.profiler

        defaults = {
            "schedule": torch.profiler.schedule(wait=1, warmup=1, active=3, repeat=1),
            "on_trace_ready": torch.profiler.tensorboard_trace_handler(
                str(folder), worker_name=f"rank-{rank}", use_gzip=True
            ),
        }
        self._profile: Any | None = torch.profiler.profile(**{**defaults, **arguments})

    def start(self) -> None:
        """Starts the profiler: its schedule counts from this call."""
        if self._profile is not None:
            self._profile.start()

    def step(self) -> None:
        """Advances the profiler's schedule by one batch."""
        if self._profile is not None:
            self._profile.step()

    def stop(self) -> None:
        """Stops the profiler; a second call does nothing."""
        profile, self._profile = self._profile, None
        if profile is not None:
            profile.stop()
