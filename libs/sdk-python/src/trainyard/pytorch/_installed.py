"""Says in one sentence what to install where PyTorch is not: imported before what needs it."""

from .._frameworks import require

require("torch", "trainyard.pytorch")
