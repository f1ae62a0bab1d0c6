"""Points in the plane around eight places on a circle, for a generator to imitate."""

import math

import torch
from torch import Tensor

PLACES = 8
RADIUS = 2.0
SPREAD = 0.1


def centers() -> Tensor:
    angles = torch.arange(PLACES) * (2 * math.pi / PLACES)
    return RADIUS * torch.stack([angles.cos(), angles.sin()], dim=1)


def points(count: int, seed: int) -> Tensor:
    """`count` × 2, as many around each place."""
    draw = torch.Generator().manual_seed(seed)
    places = centers()[torch.arange(count) % PLACES]
    return places + SPREAD * torch.randn(count, 2, generator=draw)


def places_reached(generated: Tensor) -> Tensor:
    """The number of the eight places that have at least 2 % of the points within five spreads."""
    near = torch.cdist(generated, centers().to(generated.device)) < 5 * SPREAD
    return (near.float().mean(dim=0) > 0.02).sum().float()


def energy_distance(generated: Tensor, real: Tensor) -> Tensor:
    """The energy distance of two clouds of points (Székely); 0 for the same distribution."""
    between = torch.cdist(generated, real).mean()
    within = torch.cdist(generated, generated).mean() + torch.cdist(real, real).mean()
    return 2 * between - within
