"""The load of a run's machines while it trains: ``ctx.profiler``, and PyTorch's own traces.

A thread samples processor, memory, disks, network and GPUs and reports their load. Only one process of a node
samples, however many ranks run there.
"""

from ._context import ProfilerContext
from ._torch import TorchProfiler

__all__ = ["ProfilerContext", "TorchProfiler"]
