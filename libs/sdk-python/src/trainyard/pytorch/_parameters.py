"""Functions on the parameters of models."""

from __future__ import annotations

import torch


def reset_parameters(model: torch.nn.Module) -> None:
    """Draws the initial weights of every module with ``reset_parameters`` again, so that they come from the
    trial's seed, also for a model that was built elsewhere.
    """
    for part in model.modules():
        reset = getattr(part, "reset_parameters", None)
        if callable(reset):
            reset()
