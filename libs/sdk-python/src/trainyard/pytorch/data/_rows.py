"""Batches out of tensors in memory.

``torch.utils.data`` takes a TensorDataset apart into samples, and puts those of a batch together again:
for small samples that takes longer than some models do. Here a batch is taken out of each tensor by one
call, and is the same, bit for bit and in its strides.
"""

from __future__ import annotations

from array import array
from typing import Any

import torch
from torch.utils.data import Dataset, TensorDataset, default_collate

from ._orders import Order, Sampled


class Rows(Dataset):
    """A TensorDataset of which torch takes batches that are collated already."""

    def __init__(self, dataset: TensorDataset) -> None:
        self._dataset = dataset

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, ...]:
        return self._dataset[index]

    def __getitems__(self, indices: list[int]) -> list[torch.Tensor]:
        # torch.tensor() would look at each of them, and take four times as long as all the rest.
        rows = torch.frombuffer(array("q", indices), dtype=torch.int64)
        # Read for each batch: the dataset may give itself other tensors.
        return [tensor.index_select(0, rows.to(tensor.device)) for tensor in self._dataset.tensors]


def as_it_is(batch: object) -> Any:
    """The ``collate_fn`` for ``Rows``."""
    return batch


def tensors_of(loader: torch.utils.data.DataLoader, order: Order) -> TensorDataset | None:
    """The dataset of a loader whose batches, in this order, may come from ``Rows``: plain tensors, whose
    samples would only be stacked. Loading processes do that in shared memory, and a sampler of the user's
    may give what is no row.
    """
    dataset = loader.dataset
    if type(dataset) is not TensorDataset or loader.collate_fn is not default_collate:
        return None
    if loader.num_workers > 0 or isinstance(order, Sampled):
        return None
    return dataset if all(map(_is_plain, dataset.tensors)) else None


def _is_plain(tensor: torch.Tensor) -> bool:
    return (
        type(tensor) is torch.Tensor
        and tensor.layout is torch.strided
        and not tensor.requires_grad
        and not tensor.is_quantized
    )
