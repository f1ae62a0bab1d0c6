"""A network of residual blocks, and pictures of digits to train it on."""

import torch
from torch import nn
from torch.utils.data import TensorDataset

SIDE = 8
# The digits 0 to 9 as on a seven-segment display, and the pixels of each segment.
SEGMENTS_OF_DIGITS = (
    *("abcdef", "bc", "abged", "abgcd", "fgbc"),
    *("afgcd", "afgedc", "abc", "abcdefg", "abfgcd"),
)
PLACES_OF_SEGMENTS = {
    "a": (0, slice(1, 6)),
    "b": (slice(0, 4), 6),
    "c": (slice(4, 8), 6),
    "d": (7, slice(1, 6)),
    "e": (slice(4, 8), 0),
    "f": (slice(0, 4), 0),
    "g": (3, slice(1, 6)),
}


def digits(count: int, seed: int) -> TensorDataset:
    """Noisy pictures of 8 by 8 pixels with their digits; the same seed draws the same pictures."""
    generator = torch.Generator().manual_seed(seed)
    clean = torch.zeros(10, SIDE, SIDE)
    for digit, segments in enumerate(SEGMENTS_OF_DIGITS):
        for segment in segments:
            clean[(digit, *PLACES_OF_SEGMENTS[segment])] = 1.0
    labels = torch.randint(10, (count,), generator=generator)
    noise = torch.randn(count, SIDE, SIDE, generator=generator)
    return TensorDataset((clean[labels] + 0.7 * noise).flatten(1), labels)


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return values + self.layers(values)


class Network(nn.Module):
    def __init__(self, width: int, blocks: int) -> None:
        super().__init__()
        self.first = nn.Linear(SIDE * SIDE, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(blocks))
        self.last = nn.Linear(width, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        values = self.first(images)
        for block in self.blocks:
            values = block(values)
        return self.last(values)
