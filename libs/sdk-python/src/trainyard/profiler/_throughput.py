"""The counts of the training loop for the profiler."""

from __future__ import annotations


class Throughput:
    """The counts of the training loop. One thread adds, the sampler reads: no lock is needed,
    since each number only grows.
    """

    def __init__(self) -> None:
        self.batches = 0
        self.samples = 0
