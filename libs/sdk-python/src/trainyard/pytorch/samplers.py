"""Samplers to put around each other, for loaders that a script makes itself.

``trainyard.pytorch.DataLoader`` does all of this by itself. Around each other they go in this order:
shuffle, repeat, distribute, skip. A shuffle needs an end, so it comes before the repetition; a skip
inside of a repetition would be made again in every epoch.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

from torch.utils.data import BatchSampler, Sampler

__all__ = [
    "DistributedBatchSampler",
    "DistributedSampler",
    "RepeatBatchSampler",
    "RepeatSampler",
    "ReproducibleShuffleBatchSampler",
    "ReproducibleShuffleSampler",
    "SkipBatchSampler",
    "SkipSampler",
]


class _Around:
    """The common part of the classes here: the inner sampler, whose length is theirs."""

    _inner: Any

    def __len__(self) -> int:
        return len(self._inner)


class RepeatSampler(_Around, Sampler):
    """Gives what the sampler gives again and again, without an end. The length is that of once."""

    def __init__(self, sampler: Sampler) -> None:
        self._inner = sampler

    def __iter__(self) -> Iterator[Any]:
        while True:
            yield from self._inner


class RepeatBatchSampler(_Around, BatchSampler):
    """Gives what the batch sampler gives again and again, without an end. The length is that of
    once.
    """

    def __init__(self, batch_sampler: BatchSampler) -> None:
        self.batch_sampler = self._inner = batch_sampler

    def __iter__(self) -> Iterator[Any]:
        while True:
            yield from self._inner


class _Distributed(_Around):
    def _share(self, num_workers: int, rank: int) -> None:
        if num_workers < 1 or not 0 <= rank < num_workers:
            raise ValueError(
                f"{type(self).__name__}: rank must be from 0 to num_workers - 1, not {rank} of "
                f"{num_workers}"
            )
        self.num_workers = num_workers
        self.rank = rank

    def __len__(self) -> int:
        return -(-len(self._inner) // self.num_workers)

    def __iter__(self) -> Iterator[Any]:
        return itertools.islice(iter(self._inner), self.rank, None, self.num_workers)


class DistributedSampler(_Distributed, Sampler):
    """Gives rank ``rank`` of ``num_workers`` each ``num_workers``-th sample.

    The length is the same on every rank, rounded up; where it does not divide and the sampler ends,
    higher ranks get one less than that.
    """

    def __init__(self, sampler: Sampler, num_workers: int, rank: int) -> None:
        self._inner = sampler
        self._share(num_workers, rank)


class DistributedBatchSampler(_Distributed, BatchSampler):
    """Gives rank ``rank`` of ``num_workers`` each ``num_workers``-th batch.

    The length is the same on every rank, rounded up; where it does not divide and the batch sampler
    ends, higher ranks get one less than that.
    """

    def __init__(self, batch_sampler: BatchSampler, num_workers: int, rank: int) -> None:
        self.batch_sampler = self._inner = batch_sampler
        self._share(num_workers, rank)


class SkipSampler(_Around, BatchSampler):
    """Leaves out the first ``skip`` samples, once. The length stays that of the sampler."""

    def __init__(self, sampler: Sampler, skip: int) -> None:
        self._inner = sampler
        self.skip = skip

    def __iter__(self) -> Iterator[Any]:
        return itertools.islice(iter(self._inner), self.skip, None)


class SkipBatchSampler(_Around, BatchSampler):
    """Leaves out the first ``skip`` batches, once. The length stays that of the batch sampler."""

    def __init__(self, batch_sampler: BatchSampler, skip: int) -> None:
        self.batch_sampler = self._inner = batch_sampler
        self.skip = skip

    def __iter__(self) -> Iterator[Any]:
        return itertools.islice(iter(self._inner), self.skip, None)


class _Shuffled(_Around):
    """Shuffles with a generator of its own, so that each pass has another order, and a new object
    with the same seed has the same orders.
    """

    _random: random.Random

    def __iter__(self) -> Iterator[Any]:
        units = list(self._inner)
        self._random.shuffle(units)
        return iter(units)


class ReproducibleShuffleSampler(_Shuffled, Sampler):
    """Shuffles the samples of each pass, by a seed."""

    def __init__(self, sampler: Sampler, seed: int) -> None:
        self._inner = sampler
        self._random = random.Random(seed)


class ReproducibleShuffleBatchSampler(_Shuffled, BatchSampler):
    """Shuffles the batches of each pass, by a seed; what is together in a batch stays together."""

    def __init__(self, batch_sampler: BatchSampler, seed: int) -> None:
        self._inner = batch_sampler
        self._random = random.Random(seed)
