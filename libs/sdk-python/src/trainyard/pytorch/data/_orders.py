"""The order in which the units of a dataset are read in an epoch: a function of the seed and the epoch.

A unit is an item of a sampler: the index of a sample, or a whole batch of a batch sampler. An order returns one
epoch at a time, a sequence whose slices are lists. Epochs may be requested in any order and repeatedly, and are
always the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import torch
from torch.utils.data import RandomSampler, SequentialSampler

from ._seeds import Chance, mix


class Epoch:
    """The units of one epoch."""

    def __len__(self) -> int:
        raise NotImplementedError

    def part(self, start: int, end: int) -> list[Any]:
        """The units from ``start`` to ``end``, which is excluded."""
        raise NotImplementedError


class Listed(Epoch):
    def __init__(self, units: list[Any]) -> None:
        self._units = units

    def __len__(self) -> int:
        return len(self._units)

    def part(self, start: int, end: int) -> list[Any]:
        return self._units[start:end]


class _Counted(Epoch):
    def __init__(self, size: int) -> None:
        self._size = size

    def __len__(self) -> int:
        return self._size

    def part(self, start: int, end: int) -> list[Any]:
        return list(range(start, min(end, self._size)))


class _Permuted(Epoch):
    """An epoch that needs 8 bytes per unit, where a list of integers would need 36."""

    def __init__(self, units: torch.Tensor) -> None:
        self._units = units

    def __len__(self) -> int:
        return len(self._units)

    def part(self, start: int, end: int) -> list[Any]:
        return self._units[start:end].tolist()


class Order:
    """The orders of all epochs. ``size`` is the number of units of each."""

    def __init__(self, size: int) -> None:
        self.size = size

    def epoch(self, number: int) -> Epoch:
        raise NotImplementedError


class Sequential(Order):
    def epoch(self, number: int) -> Epoch:
        return _Counted(self.size)


class Shuffled(Order):
    def __init__(self, size: int, seed: int) -> None:
        super().__init__(size)
        self._seed = seed

    def epoch(self, number: int) -> Epoch:
        generator = torch.Generator()
        generator.manual_seed(mix(self._seed, "epoch", number))
        return _Permuted(torch.randperm(self.size, generator=generator))


class Sampled(Order):
    """The order of a user's sampler, made a function of the seed and the epoch. While the sampler is read, the
    global generators of Python, NumPy and torch, and the sampler's attribute ``generator``, are seeded for the
    epoch. ``set_epoch`` is called if it exists. Samplers that keep other state from epoch to epoch are not
    supported.
    """

    def __init__(self, sampler: Iterable[Any], seed: int, name: str) -> None:
        super().__init__(_length(sampler, name))
        self._sampler = sampler
        self._seed = seed
        self._name = name
        generator = getattr(sampler, "generator", None)
        self._generator = generator if isinstance(generator, torch.Generator) else None

    def epoch(self, number: int) -> Epoch:
        seed = mix(self._seed, "epoch", number)
        if self._generator is not None:
            self._generator.manual_seed(seed)
        set_epoch = getattr(self._sampler, "set_epoch", None)
        if callable(set_epoch):
            set_epoch(number)
        with Chance(seed):
            # One unit more than expected is read, which also detects an endless sampler.
            units = list(itertools.islice(iter(self._sampler), self.size + 1))
        if len(units) != self.size:
            gave = "more" if len(units) > self.size else str(len(units))
            raise ValueError(
                f"the {self._name} of a DataLoader says by __len__ that an epoch has {self.size} "
                f"and its __iter__ gave {gave}: let __len__ return what __iter__ gives"
            )
        return Listed(units)


def order_of(sampler: Iterable[Any], dataset: object, seed: int) -> Order:
    """Returns the order of a sampler of samples."""
    if type(sampler) is SequentialSampler:
        return Sequential(_length(sampler.data_source, "dataset"))
    if type(sampler) is RandomSampler and not sampler.replacement:
        size = _length(dataset, "dataset")
        if sampler.num_samples == size:
            return Shuffled(size, seed)
    return Sampled(sampler, seed, "sampler")


def seed_of(sampler: object) -> int | None:
    """The seed of a sampler's attribute ``generator``; None if it has none."""
    generator = getattr(sampler, "generator", None)
    return generator.initial_seed() if isinstance(generator, torch.Generator) else None


def _length(sized: Any, name: str) -> int:
    try:
        return len(sized)
    except TypeError as error:
        raise TypeError(
            f"the {name} of a DataLoader has no length, from which the length of an epoch follows: "
            f"give {type(sized).__name__} a __len__"
        ) from error
