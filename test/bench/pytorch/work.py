"""What both sides train: the same network on the same data."""

from __future__ import annotations

import os

import torch
from torch import nn
from torch.utils.data import TensorDataset

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


def samples() -> TensorDataset:
    draw = torch.Generator().manual_seed(1)
    inputs = torch.randn(BATCH * 128, INPUTS, generator=draw)
    return TensorDataset(inputs, torch.randint(CLASSES, (len(inputs),), generator=draw))
