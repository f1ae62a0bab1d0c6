"""Data loading of ``trainyard.pytorch``: what a trial describes, and the order that it is read in.

A ``DataLoader`` is a description. ``get_data_loader`` makes a ``torch.utils.data.DataLoader`` of it
that gives one rank its part of every batch, in an order that is a function of a seed and the epoch,
from any batch on.
"""

from ._adapt import adapt_batch_sampler
from ._loader import DataLoader
from ._tensors import TorchData, data_length, to_device

__all__ = ["DataLoader", "TorchData", "adapt_batch_sampler", "data_length", "to_device"]
