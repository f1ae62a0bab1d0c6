"""Loads an IterableDataset. The stream decides its order, so sharding and skipping have to read it.

Every rank reads the whole stream and keeps its part of each global batch, divided as for an indexed dataset.
Skipped samples are read and dropped without being collated. The stream must yield the same samples on every rank
and after a restart. Therefore ``set_epoch(epoch)`` is called if it exists, and while the stream is read, the
global generators have states that are seeded at the beginning of each epoch. For a ``collate_fn`` in a worker
process they are seeded for each batch.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import IterableDataset, get_worker_info

from ._batches import share_of_rest
from ._orders import Listed
from ._seeds import Chance, mix, set_all


class Stream(IterableDataset):
    """One rank's batches of a stream, each a list of samples."""

    def __init__(
        self,
        dataset: IterableDataset,
        *,
        batch_size: int | None,
        drop_last: bool,
        repeat: bool,
        skip: int,
        replicas: int,
        rank: int,
        seed: int,
        epoch: int,
    ) -> None:
        self._dataset = dataset
        self._whole = batch_size is None
        self._batch_size = 1 if batch_size is None else batch_size
        self._drop_last = drop_last
        self._repeat = repeat
        self._skip = skip
        self._replicas = replicas
        self._rank = rank
        self._seed = seed
        self._epoch = epoch

    def steps(self) -> int:
        """The number of batches of an epoch on this rank, or of its rest if the stream is not repeated."""
        samples, size = stream_length(self._dataset), self._batch_size
        if self._repeat:
            steps, rest = divmod(samples, size * self._replicas)
            return steps if self._drop_last or rest == 0 else steps + 1
        batches = samples // size if self._drop_last else -(-samples // size)
        return max(0, -(-(batches - self._rank) // self._replicas) - self._skip)

    def __iter__(self) -> Iterator[Any]:
        epoch, step = self._epoch, self._skip
        if self._repeat and self._skip:
            epochs, step = divmod(self._skip, self.steps())
            epoch += epochs
        while True:
            yielded = 0
            for batch in self._epoch_of(epoch, step):
                yielded += 1
                yield batch[0] if self._whole else batch
            if not self._repeat:
                return
            if yielded == 0 and step == 0:
                raise ValueError(
                    f"build_training_data_loader: {type(self._dataset).__name__} gave no batch in "
                    f"epoch {epoch}: let its __iter__ start again at every call"
                )
            epoch, step = epoch + 1, 0

    def _epoch_of(self, epoch: int, step: int) -> Iterator[list[Any]]:
        set_epoch = getattr(self._dataset, "set_epoch", None)
        if callable(set_epoch):
            set_epoch(epoch)
        chance = Chance(mix(self._seed, "stream", epoch))
        at_once = self._batch_size * self._replicas
        with chance:
            samples = itertools.islice(iter(self._dataset), step * at_once, None)
        while True:
            with chance:
                chunk = list(itertools.islice(samples, at_once))
            batch = self._own_batch(chunk, at_once)
            if batch:
                if get_worker_info() is not None:
                    set_all(mix(self._seed, self._rank, epoch, step))
                yield batch
            step += 1
            if len(chunk) < at_once:
                return

    def _own_batch(self, chunk: list[Any], at_once: int) -> list[Any]:
        size, rank = self._batch_size, self._rank
        if self._repeat and 0 < len(chunk) < at_once:
            # The beginning of the epoch is not available, so a rank without a share takes another rank's samples.
            return [] if self._drop_last else _share(chunk, self._replicas, rank)
        batch = chunk[rank * size : (rank + 1) * size]
        return [] if self._drop_last and len(batch) < size else batch


def _share(chunk: list[Any], replicas: int, rank: int) -> list[Any]:
    return share_of_rest(Listed(chunk), 0, replicas, rank)


def stream_length(dataset: Any) -> int:
    """The number of samples of an epoch of a stream."""
    try:
        return len(dataset)
    except (TypeError, NotImplementedError) as error:
        raise TypeError(
            "build_training_data_loader: an IterableDataset without a length has no epochs: give "
            f"{type(dataset).__name__} a __len__ that returns its samples in an epoch"
        ) from error


class StreamLoader(torch.utils.data.DataLoader):
    """A loader of a Stream. Its length is the Stream's number of batches."""

    def __init__(self, stream: Stream, **loading: Any) -> None:
        super().__init__(stream, batch_size=None, **loading)
        self._stream = stream

    def __len__(self) -> int:
        return self._stream.steps()
