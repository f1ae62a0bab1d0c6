"""Data loading of ``trainyard.pytorch``: the description by a trial, and the order of reading.

A ``DataLoader`` is a description. Its ``get_data_loader`` creates a ``torch.utils.data.DataLoader`` that yields
one rank's part of every batch, starting at any batch. The order is a function of a seed and the epoch.
"""

from ._adapt import adapt_batch_sampler
from ._loader import DataLoader
from ._tensors import TorchData, data_length, to_device

__all__ = ["DataLoader", "TorchData", "adapt_batch_sampler", "data_length", "to_device"]
