"""Records the trial that a checkpoint belongs to, so that the trial can be recreated elsewhere."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import torch

from ..._version import __version__
from .._context import PyTorchTrialContext
from .._trial import PyTorchTrial


def identity_of(trial: PyTorchTrial, context: PyTorchTrialContext) -> dict[str, Any]:
    """The trial's class, hyperparameters and configuration, in JSON form."""
    kind = type(trial)
    module = kind.__module__
    if module == "__main__":
        # The script is importable later under its file name.
        script = getattr(sys.modules.get("__main__"), "__file__", None)
        module = Path(script).stem if script else module
    identity = {
        "trial": f"{module}:{kind.__qualname__}",
        "hparams": context.get_hparams(),
        "config": context.get_experiment_config(),
        "torch": torch.__version__,
        "trainyard": __version__,
    }
    plain: dict[str, Any] = json.loads(json.dumps(identity, default=str))
    return plain


def class_of(identity: dict[str, Any]) -> Any:
    """Imports and returns the trial's class. Raises ValueError if the import fails."""
    module, _, name = str(identity.get("trial", "")).partition(":")
    try:
        value: Any = importlib.import_module(module)
        for part in name.split("."):
            value = getattr(value, part)
        return value
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"load_trial_from_checkpoint_path() cannot import {module}:{name} ({error}): put its "
            "folder on PYTHONPATH, or pass trial_class"
        ) from error
