"""Batches from tensors in memory.

``torch.utils.data`` splits a TensorDataset into samples, and stacks those of a batch again. For small samples this
takes longer than the step of some models. This module selects a batch from each tensor with one call. The batch is
equal bit for bit, also in its strides.
"""

from __future__ import annotations

from array import array
from typing import Any

import torch
from torch.utils.data import Dataset, TensorDataset, default_collate

from ._orders import Order, Sampled


class Rows(Dataset):
    """Wraps a TensorDataset so that torch gets batches that are collated already."""

    def __init__(self, dataset: TensorDataset) -> None:
        self._dataset = dataset

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, ...]:
        return self._dataset[index]

    def __getitems__(self, indices: list[int]) -> list[torch.Tensor]:
        # torch.tensor() would check each index, and take four times as long as the rest of this method.
        rows = torch.frombuffer(array("q", indices), dtype=torch.int64)
        # The tensors are read for each batch, because the dataset may replace them.
        return [tensor.index_select(0, rows.to(tensor.device)) for tensor in self._dataset.tensors]


def as_it_is(batch: object) -> Any:
    """The ``collate_fn`` for ``Rows``: returns the batch unchanged."""
    return batch


def tensors_of(loader: torch.utils.data.DataLoader, order: Order) -> TensorDataset | None:
    """The loader's dataset if its batches, in this order, may come from ``Rows``: plain tensors, whose samples
    would only be stacked. Not with worker processes, which stack in shared memory, or a user's sampler, whose
    items may not be row numbers.
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
