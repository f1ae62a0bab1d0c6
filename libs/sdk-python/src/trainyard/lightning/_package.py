"""Chooses between Lightning's two packages.

Their classes have the same names but are unrelated.
"""

from __future__ import annotations

import importlib.util
import sys

from .._frameworks import require

USER = "trainyard.lightning"


def chosen() -> str:
    """Returns the package that the script has imported, otherwise the first one that is installed."""
    if "lightning" in sys.modules:
        return "lightning.pytorch"
    if "pytorch_lightning" in sys.modules:
        return "pytorch_lightning"
    if importlib.util.find_spec("lightning") is not None:
        return "lightning.pytorch"
    older = importlib.util.find_spec("pytorch_lightning") is not None
    return "pytorch_lightning" if older else "lightning.pytorch"


package = chosen()
torch = require("torch", USER)
callbacks = require(f"{package}.callbacks", USER)
loggers = require(f"{package}.loggers", USER)
environments = require(f"{package}.plugins.environments", USER)
