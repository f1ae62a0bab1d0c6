"""Divides units (samples or batches) among ranks and steps, as batch samplers of torch.

A step is one batch on every rank. In training, the steps of an epoch cut its order into global batches: step k of
R ranks with B samples each has the samples from k·B·R to (k+1)·B·R of the order, and rank r has the r-th B of
them. So step k has the same samples as with one process and batches of B·R. The last global batch may be smaller.
It is divided as evenly as possible, so that every sample is in the epoch once. A rank without a sample in it takes
one from the epoch's beginning, since every rank must take part in every step.

In validation no sample is used twice: rank (i mod R) has batch i of a single process. Thus ranks may have
different numbers of batches, some none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch.utils.data import Sampler, get_worker_info

from ._orders import Epoch, Order
from ._seeds import mix, set_all


class Seeded:
    """A unit for a worker process, together with a seed. Unpickling it in the worker returns the unit and seeds
    the random generators. Thus the random numbers of a dataset and a ``collate_fn`` for a batch (augmentations)
    depend neither on the number of processes nor on an interruption of the training.
    """

    def __init__(self, unit: object, seed: int) -> None:
        self.unit = unit
        self.seed = seed

    def __reduce__(self) -> Any:
        return _arrived, (self.unit, self.seed)


def _arrived(unit: object, seed: int) -> Any:
    # A worker process unpickles one unit at a time, when it starts to load it.
    if get_worker_info() is not None:
        set_all(seed)
    return unit


class Plan:
    """The units of an epoch for the rank in each of its steps."""

    def __init__(self, order: Order, replicas: int, rank: int) -> None:
        self.order = order
        self.replicas = replicas
        self.rank = rank
        self.steps = 0

    def batch(self, epoch: Epoch, step: int) -> Any:
        raise NotImplementedError


class TrainSamples(Plan):
    """Global batches, cut from an order of samples."""

    def __init__(
        self, order: Order, replicas: int, rank: int, batch_size: int, drop_last: bool
    ) -> None:
        super().__init__(order, replicas, rank)
        self._size = batch_size
        whole, rest = divmod(order.size, batch_size * replicas)
        self.steps = whole if drop_last or rest == 0 else whole + 1
        if self.steps == 0:
            raise ValueError(
                f"build_training_data_loader: {order.size} samples make no batch of {batch_size} "
                f"on each of {replicas} slots: give a larger dataset, or a smaller batch_size"
                + (", or drop_last=False" if drop_last else "")
            )

    def batch(self, epoch: Epoch, step: int) -> Any:
        start = step * self._size * self.replicas
        remaining = len(epoch) - start
        if remaining >= self._size * self.replicas:
            start += self.rank * self._size
            return epoch.part(start, start + self._size)
        return share_of_rest(epoch, start, self.replicas, self.rank)


class TrainUnits(Plan):
    """Batches of the user's batch sampler, or samples that are batches already."""

    def __init__(self, order: Order, replicas: int, rank: int) -> None:
        super().__init__(order, replicas, rank)
        self.steps = -(-order.size // replicas)
        if self.steps == 0:
            raise ValueError("build_training_data_loader: the loader gives no batch at all")

    def batch(self, epoch: Epoch, step: int) -> Any:
        place = (step * self.replicas + self.rank) % len(epoch)
        return epoch.part(place, place + 1)[0]


class EachOnce(Plan):
    """The batches of a single process divided among ranks: rank (i mod replicas) has batch i."""

    def __init__(
        self, order: Order, replicas: int, rank: int, batch_size: int = 0, drop_last: bool = False
    ) -> None:
        super().__init__(order, replicas, rank)
        self._size = batch_size
        size = max(batch_size, 1)
        batches = order.size // size if drop_last else -(-order.size // size)
        self.steps = max(0, -(-(batches - rank) // replicas))

    def batch(self, epoch: Epoch, step: int) -> Any:
        number = step * self.replicas + self.rank
        if self._size == 0:
            return epoch.part(number, number + 1)[0]
        return epoch.part(number * self._size, (number + 1) * self._size)


def share_of_rest(epoch: Epoch, start: int, replicas: int, rank: int) -> list[Any]:
    """A rank's share of an epoch's units from ``start`` on, if these are less than a global batch. It is never
    empty.
    """
    each, more = divmod(len(epoch) - start, replicas)
    first = start + rank * each + min(rank, more)
    size = each + (1 if rank < more else 0)
    if size == 0:
        first, size = (rank - more) % len(epoch), 1
    return epoch.part(first, first + size)


class Steps(Sampler):
    """The batches of one rank, from step ``skip`` on, counted from the beginning of ``epoch``. With ``repeat`` the
    epochs follow each other without an end, and ``len`` is the number of steps of one epoch; otherwise only the
    rest of the epoch is yielded. Batches for worker processes are ``seeded``.
    """

    def __init__(
        self, plan: Plan, *, repeat: bool, skip: int, seed: int, epoch: int = 0, seeded: bool = True
    ) -> None:
        self._plan = plan
        self._repeat = repeat
        self._skip = skip
        self._seed = seed
        self._epoch = epoch
        self._seeded = seeded

    def __len__(self) -> int:
        steps = self._plan.steps
        return steps if self._repeat else max(0, steps - self._skip)

    def __iter__(self) -> Iterator[Any]:
        plan, number, step = self._plan, self._epoch, self._skip
        if self._repeat:
            epochs, step = divmod(self._skip, plan.steps)
            number += epochs
        while True:
            if step < plan.steps:
                epoch = plan.order.epoch(number)
                for at in range(step, plan.steps):
                    batch = plan.batch(epoch, at)
                    if self._seeded:
                        batch = Seeded(batch, mix(self._seed, plan.rank, number, at))
                    yield batch
            if not self._repeat:
                return
            number, step = number + 1, 0
