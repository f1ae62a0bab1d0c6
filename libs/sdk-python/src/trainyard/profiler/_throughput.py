"""The counts of the training loop for the profiler."""

from __future__ import annotations


class Throughput:
    """The counts of the training loop. One thread adds and the sampler reads; no lock is needed, since the numbers
    only increase.
    """

    def __init__(self) -> None:
        self.batches = 0
        self.samples = 0
