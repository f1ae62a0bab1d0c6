"""The description of a data loader that a trial returns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sized
from typing import Any, Callable, Protocol, cast

import torch
from torch.utils.data import BatchSampler, Dataset, IterableDataset
from torch.utils.data.distributed import DistributedSampler

from ._batches import EachOnce, Plan, Steps, TrainSamples, TrainUnits
from ._orders import Sampled, order_of, seed_of
from ._rows import Rows, as_it_is, tensors_of
from ._seeds import mix
from ._streams import Stream, StreamLoader, stream_length


class Indexed(Protocol):
    """A sequence of samples by index, like a list or a tensor."""

    def __len__(self) -> int:
        raise NotImplementedError

    def __getitem__(self, index: int, /) -> Any:
        raise NotImplementedError


class DataLoader:
    """Describes how to load a dataset, with the arguments of ``torch.utils.data.DataLoader``.

    ``batch_size`` is in samples of one slot. Nothing is loaded until ``get_data_loader`` creates torch's loader
    for one rank. The description can also be iterated over directly, like the loader of a single process that
    reshuffles at each pass. Contradictory arguments raise torch's errors.
    """

    def __init__(
        self,
        dataset: Dataset | Indexed,
        batch_size: int | None = 1,
        shuffle: bool | None = False,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: torch.Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
    ) -> None:
        if isinstance(dataset, IterableDataset) and shuffle is False:
            shuffle = None
        if shuffle and isinstance(dataset, Sized) and len(dataset) == 0:
            raise ValueError(
                f"DataLoader(shuffle=True) was given a {type(dataset).__name__} without a sample: "
                "give it a dataset with at least one"
            )
        self._settle(
            torch.utils.data.DataLoader(
                cast(Dataset, dataset),
                batch_size=batch_size,
                shuffle=shuffle,
                sampler=sampler,
                batch_sampler=batch_sampler,
                num_workers=num_workers,
                collate_fn=collate_fn,
                pin_memory=pin_memory,
                drop_last=drop_last,
                timeout=timeout,
                worker_init_fn=worker_init_fn,
                multiprocessing_context=multiprocessing_context,
                generator=generator,
                prefetch_factor=prefetch_factor,
                persistent_workers=persistent_workers,
            )
        )

    @classmethod
    def from_torch(cls, loader: torch.utils.data.DataLoader) -> DataLoader:
        """Describes an existing loader of torch: the same dataset, sampling and loading."""
        if not isinstance(loader, torch.utils.data.DataLoader):
            raise TypeError(
                f"DataLoader.from_torch takes a torch.utils.data.DataLoader, not a "
                f"{type(loader).__name__}"
            )
        described = cls.__new__(cls)
        cls._settle(described, loader)
        return described

    def _settle(self, loader: torch.utils.data.DataLoader) -> None:
        self._torch = loader
        self._passes = 0
        self.dataset = loader.dataset
        self.batch_size = loader.batch_size
        self.drop_last = loader.drop_last
        self.sampler = loader.sampler
        self.batch_sampler = loader.batch_sampler
        self.num_workers = loader.num_workers
        self.collate_fn = loader.collate_fn
        self.pin_memory = loader.pin_memory
        self.timeout = loader.timeout
        self.worker_init_fn = loader.worker_init_fn
        # The dataset if it is a stream, whose samples have no index; otherwise None.
        self._streamed = loader.dataset if isinstance(loader.dataset, IterableDataset) else None
        if type(self.batch_sampler) is BatchSampler:
            # Samples are batched by this class, so that the last global batch can be divided.
            self.sampler = self.batch_sampler.sampler
            self._size: int | None = self.batch_sampler.batch_size
            self._drops = self.batch_sampler.drop_last
        else:
            self._size, self._drops = self.batch_size, self.drop_last
        # The seed is read first, since reading the sampler reseeds its generator.
        self._own_seed = seed_of(self.sampler)
        if self._streamed is not None and self.num_workers > 1:
            raise ValueError(
                "DataLoader(num_workers=...) of an IterableDataset can be 0 or 1, since each "
                "loading process would give all of the stream: use a dataset with __getitem__, or "
                "a torch.utils.data.DataLoader after "
                "context.experimental.disable_dataset_reproducibility_checks()"
            )

    def get_data_loader(
        self,
        repeat: bool = False,
        skip: int = 0,
        num_replicas: int = 1,
        rank: int = 0,
        *,
        seed: int = 0,
        epoch: int = 0,
    ) -> torch.utils.data.DataLoader:
        """Returns the loader of one rank. With ``repeat`` the loader is for training: epochs follow each other
        without an end, every rank has the same number of batches per epoch, and ``len`` is that number. Without
        ``repeat`` it is for validation: one pass, in which exactly one rank has each sample; ranks may have
        different numbers of batches.

        ``skip`` is in batches of this rank since the beginning of ``epoch``: the loader starts after them, also in
        the middle of an epoch. Skipped batches of an indexed dataset are not loaded. The order is a function of
        ``seed`` and the epoch, and the global random generators are not used.
        """
        _check_place(skip, num_replicas, rank)
        if self._streamed is not None:
            stream = Stream(
                self._streamed,
                batch_size=self._size,
                drop_last=self._drops,
                repeat=repeat,
                skip=skip,
                replicas=num_replicas,
                rank=rank,
                seed=seed,
                epoch=epoch,
            )
            return StreamLoader(stream, **self._loading(seed, rank))
        plan = self._plan(repeat, num_replicas, rank, seed)
        steps = Steps(
            plan,
            repeat=repeat,
            skip=skip,
            seed=seed,
            epoch=epoch,
            seeded=self.num_workers > 0,
        )
        if self._size is None and self.batch_sampler is None:
            return torch.utils.data.DataLoader(
                self.dataset, batch_size=None, sampler=steps, **self._loading(seed, rank)
            )
        loading = self._loading(seed, rank)
        tensors = tensors_of(self._torch, plan.order)
        if tensors is not None:
            loading["collate_fn"] = as_it_is
            return torch.utils.data.DataLoader(Rows(tensors), batch_sampler=steps, **loading)
        return torch.utils.data.DataLoader(self.dataset, batch_sampler=steps, **loading)

    def __iter__(self) -> Iterator[Any]:
        epoch, self._passes = self._passes, self._passes + 1
        return iter(self.get_data_loader(seed=torch.initial_seed(), epoch=epoch))

    def __len__(self) -> int:
        """The number of batches of an epoch in a single process."""
        if self._streamed is not None:
            size = 1 if self._size is None else self._size
            batches, rest = divmod(stream_length(self._streamed), size)
            return batches if self._drops or rest == 0 else batches + 1
        return self._plan(repeat=False, replicas=1, rank=0, seed=0).steps

    def _plan(self, repeat: bool, replicas: int, rank: int, seed: int) -> Plan:
        if isinstance(self.sampler, DistributedSampler) and self.sampler.num_replicas > 1:
            raise ValueError(
                "DataLoader(sampler=...) takes no DistributedSampler, since it gives each slot "
                "its part itself: pass shuffle=True, or a sampler of the whole dataset"
            )
        if self._own_seed is not None:
            seed = mix(seed, self._own_seed)
        if self._size is None:
            units = self.sampler if self.batch_sampler is None else self.batch_sampler
            name = "sampler" if self.batch_sampler is None else "batch_sampler"
            order = Sampled(units, seed, name)
            kind = TrainUnits if repeat else EachOnce
            return kind(order, replicas, rank)
        order = order_of(self.sampler, self.dataset, seed)
        if repeat:
            return TrainSamples(order, replicas, rank, self._size, self._drops)
        return EachOnce(order, replicas, rank, self._size, self._drops)

    def _loading(self, seed: int, rank: int) -> dict:
        """The options that do not affect the order. torch draws the seed of its worker processes from the loader's
        generator, so that the global generator is unaffected.
        """
        generator = torch.Generator()
        generator.manual_seed(mix(seed, rank, "loading"))
        loader = self._torch
        return {
            "num_workers": loader.num_workers,
            "collate_fn": loader.collate_fn,
            "pin_memory": loader.pin_memory and torch.cuda.is_available(),
            "timeout": loader.timeout,
            "worker_init_fn": loader.worker_init_fn,
            "multiprocessing_context": loader.multiprocessing_context,
            "generator": generator,
            "prefetch_factor": loader.prefetch_factor if loader.num_workers > 0 else None,
            "persistent_workers": loader.persistent_workers,
        }


def _check_place(skip: int, replicas: int, rank: int) -> None:
    if not 0 <= rank < replicas:
        raise ValueError(
            f"get_data_loader: rank must be from 0 to num_replicas - 1, not {rank} of {replicas}"
        )
    if skip < 0:
        raise ValueError(f"get_data_loader: skip must be 0 batches or more, not {skip}")
