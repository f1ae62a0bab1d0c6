"""Samplers that wrap each other, for loaders that a script creates itself.

``trainyard.pytorch.DataLoader`` does all of this automatically. The order of wrapping is: shuffle, repeat,
distribute, skip. A shuffle needs a finite sampler, so it comes before the repetition. A skip inside of a
repetition would be repeated in every epoch.
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
    """The common base of the samplers: it has the inner sampler and its length."""

    _inner: Any

    def __len__(self) -> int:
        return len(self._inner)


class RepeatSampler(_Around, Sampler):
    """Repeats a sampler without an end. The length is that of one pass."""

    def __init__(self, sampler: Sampler) -> None:
        self._inner = sampler

    def __iter__(self) -> Iterator[Any]:
        while True:
            yield from self._inner


class RepeatBatchSampler(_Around, BatchSampler):
    """Repeats a batch sampler without an end. The length is that of one pass."""

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
    """Yields every ``num_workers``-th sample, for rank ``rank`` of ``num_workers``. The length is the same on
    every rank, rounded up. If the sampler is finite and the division has a remainder, higher ranks yield one
    sample less than the length.
    """

    def __init__(self, sampler: Sampler, num_workers: int, rank: int) -> None:
        self._inner = sampler
        self._share(num_workers, rank)


class DistributedBatchSampler(_Distributed, BatchSampler):
    """Yields every ``num_workers``-th batch, for rank ``rank`` of ``num_workers``. The length is the same on every
    rank, rounded up. If the batch sampler is finite and the division has a remainder, higher ranks yield one batch
    less than the length.
    """

    def __init__(self, batch_sampler: BatchSampler, num_workers: int, rank: int) -> None:
        self.batch_sampler = self._inner = batch_sampler
        self._share(num_workers, rank)


class SkipSampler(_Around, BatchSampler):
    """Skips the first ``skip`` samples, once. The length is that of the inner sampler."""

    def __init__(self, sampler: Sampler, skip: int) -> None:
        self._inner = sampler
        self.skip = skip

    def __iter__(self) -> Iterator[Any]:
        return itertools.islice(iter(self._inner), self.skip, None)


class SkipBatchSampler(_Around, BatchSampler):
    """Skips the first ``skip`` batches, once. The length is that of the inner batch sampler."""

    def __init__(self, batch_sampler: BatchSampler, skip: int) -> None:
        self.batch_sampler = self._inner = batch_sampler
        self.skip = skip

    def __iter__(self) -> Iterator[Any]:
        return itertools.islice(iter(self._inner), self.skip, None)


class _Shuffled(_Around):
    """Shuffles with its own random generator: each pass has another order, and a new object with the same seed has
    the same orders.
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
    """Shuffles the batches of each pass, by a seed. The content of each batch stays the same."""

    def __init__(self, batch_sampler: BatchSampler, seed: int) -> None:
        self._inner = batch_sampler
        self._random = random.Random(seed)
