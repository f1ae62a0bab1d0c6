"""PyTorch on Trainyard. Importing this imports torch."""

from . import samplers
from .data import DataLoader, TorchData, adapt_batch_sampler, data_length, to_device

__all__ = [
    "DataLoader",
    "TorchData",
    "adapt_batch_sampler",
    "data_length",
    "samplers",
    "to_device",
]
