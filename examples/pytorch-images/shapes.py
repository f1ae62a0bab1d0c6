"""Small grey pictures of a circle, a square, a triangle or a cross, at random places."""

import torch
from torch import Tensor
from torch.utils.data import TensorDataset

KINDS = ("circle", "square", "triangle", "cross")
SIDE = 16
NOISE = 0.3


def shapes(count: int, seed: int) -> TensorDataset:
    """Pairs of a noisy picture (1 × 16 × 16) and its label, the index of its shape in KINDS."""
    draw = torch.Generator().manual_seed(seed)
    kinds = torch.randint(len(KINDS), (count,), generator=draw)
    centers = 6 + 4 * torch.rand(count, 2, generator=draw)
    radii = 3 + 3 * torch.rand(count, generator=draw)
    pictures = picture_of(kinds, centers, radii)
    noise = NOISE * torch.randn(pictures.shape, generator=draw)
    return TensorDataset(pictures + noise, kinds)


def picture_of(kinds: Tensor, centers: Tensor, radii: Tensor) -> Tensor:
    across, down, radius = places(centers, radii)
    wide, high = across.abs(), down.abs()
    inside = (
        across.hypot(down) <= radius,
        torch.maximum(wide, high) <= 0.9 * radius,
        (high <= radius) & (wide <= (down + radius) / 2),
        (torch.maximum(wide, high) <= radius) & (torch.minimum(wide, high) <= radius / 3),
    )
    chosen = torch.stack(inside, dim=1)[torch.arange(len(kinds)), kinds]
    return chosen.unsqueeze(1).float()


def places(centers: Tensor, radii: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Each pixel's distance from the centre of the shape, across and down."""
    pixels = torch.arange(SIDE, dtype=torch.float32)
    across = pixels.view(1, 1, SIDE) - centers[:, 0].view(-1, 1, 1)
    down = pixels.view(1, SIDE, 1) - centers[:, 1].view(-1, 1, 1)
    return across, down, radii.view(-1, 1, 1)
