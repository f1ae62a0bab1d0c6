"""PyTorch on Trainyard. Importing this imports torch."""

from . import samplers
from .data import DataLoader, TorchData, adapt_batch_sampler, data_length, to_device
from .metrics import MetricReducer, Reducer

__all__ = [
    "DataLoader",
    "MetricReducer",
    "Reducer",
    "TorchData",
    "adapt_batch_sampler",
    "data_length",
    "samplers",
    "to_device",
]
