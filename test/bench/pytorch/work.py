"""The network and the data of both trainings.

``BENCH_DATA`` is ``own`` for a map-style Dataset that returns one sample at a time, or
``tensors`` for a ``TensorDataset``, whose batches ``trainyard.pytorch`` reads by one indexing
operation.
"""

from __future__ import annotations

import os

import torch
from torch import Tensor, nn
from torch.utils.data import Dataset, TensorDataset

INPUTS, CLASSES, BATCH = 256, 10, 64
WIDTH = int(os.environ.get("BENCH_WIDTH", "1024"))
REPORT_EVERY = 100


def network() -> nn.Module:
    return nn.Sequential(
        nn.Linear(INPUTS, WIDTH),
        nn.ReLU(),
        nn.Linear(WIDTH, WIDTH),
        nn.ReLU(),
        nn.Linear(WIDTH, CLASSES),
    )


def optimizer_of(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)


class OwnDataset(Dataset[tuple[Tensor, int]]):
    def __init__(self, inputs: Tensor, classes: Tensor) -> None:
        self.inputs = inputs
        self.classes = classes.tolist()

    def __len__(self) -> int:
        return len(self.classes)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return self.inputs[index], self.classes[index]


def samples() -> OwnDataset | TensorDataset:
    draw = torch.Generator().manual_seed(1)
    inputs = torch.randn(BATCH * 128, INPUTS, generator=draw)
    classes = torch.randint(CLASSES, (len(inputs),), generator=draw)
    if os.environ["BENCH_DATA"] == "tensors":
        return TensorDataset(inputs, classes)
    return OwnDataset(inputs, classes)
