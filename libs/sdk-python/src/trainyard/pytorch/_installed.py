"""Checks that PyTorch is installed, and raises an error that says how to install it. Imported before modules that
need torch.
"""

from .._frameworks import require

require("torch", "trainyard.pytorch")
