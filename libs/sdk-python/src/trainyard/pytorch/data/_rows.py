"""Batches out of tensors in memory.

``torch.utils.data`` takes a TensorDataset apart into samples, and puts those of a batch together again:
for small samples that takes longer than some models do. Here a batch is taken out of each tensor by one
call, and is the same, bit for bit and in its strides.
"""

from __future__ import annotations

from array import array
from typing import Any

import torch
from torch.utils.data import TensorDataset, default_collate

from ._orders import Order, Sampled


class Rows(TensorDataset):
    """A TensorDataset of which torch takes batches that are collated already."""

    def __init__(self, dataset: TensorDataset) -> None:
        self._dataset = dataset

    @property
    def tensors(self) -> tuple[torch.Tensor, ...]:
        """Those of the dataset, which may give itself others."""
        return self._dataset.tensors

    def __getitems__(self, indices: list[int]) -> list[torch.Tensor]:
        # torch.tensor() would look at each of them, and take four times as long as all the rest.
        rows = torch.frombuffer(array("q", indices), dtype=torch.int64)
        return [tensor.index_select(0, rows.to(tensor.device)) for tensor in self.tensors]


def as_it_is(batch: Any) -> Any:
    """The ``collate_fn`` for ``Rows``."""
    return batch


def are_rows(loader: torch.utils.data.DataLoader, order: Order) -> bool:
    """Whether what a loader gives in this order may come from ``Rows``: plain tensors, whose samples
    would only be stacked. Loading processes do that in shared memory, and a sampler of the user's may
    give what is no row.
    """
    return (
        type(loader.dataset) is TensorDataset
        and loader.collate_fn is default_collate
        and loader.num_workers == 0
        and not isinstance(order, Sampled)
        and all(map(_is_plain, loader.dataset.tensors))
    )


def _is_plain(tensor: torch.Tensor) -> bool:
    return (
        type(tensor) is torch.Tensor
        and tensor.layout is torch.strided
        and not tensor.requires_grad
        and not tensor.is_quantized
    )
