"""A table with ten numbers and a target value in each row.

Five of the ten numbers matter (Friedman, "Multivariate Adaptive Regression Splines", 1991). The
target has mean 0 and variance 1, apart from a little noise.
"""

import math

import torch
from torch import Tensor
from torch.utils.data import TensorDataset

COLUMNS = 10
NOISE = 0.1
# The mean and the standard deviation of `friedman` on uniform columns.
MEAN, DEVIATION = 14.41, 4.85


def table(rows: int, seed: int) -> TensorDataset:
    """Pairs of a row's columns (10 numbers from 0 to 1) and its target (1 number)."""
    columns, noise = drawn(rows, seed)
    target = (friedman(columns) - MEAN) / DEVIATION + NOISE * noise
    return TensorDataset(columns, target.unsqueeze(1))


def friedman(columns: Tensor) -> Tensor:
    a, b, c, d, e = columns.unbind(dim=1)[:5]
    return 10 * torch.sin(math.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e


def drawn(rows: int, seed: int) -> tuple[Tensor, Tensor]:
    draw = torch.Generator().manual_seed(seed)
    return torch.rand(rows, COLUMNS, generator=draw), torch.randn(rows, generator=draw)
