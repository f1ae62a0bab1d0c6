"""Restores a trial's learning rates after a restart.

The Trainer resumes an optimizer and a schedule with their saved rates. In population-based training a trial starts
from another trial's checkpoint with different hyperparameters, and these must be used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RATES = ("learning_rate", "weight_decay")


def rates_of(args: object) -> dict[str, float]:
    """The rates among the arguments, as a checkpoint's metadata keep them."""
    return {name: float(getattr(args, name)) for name in RATES}


def apply_rates(saved: Mapping[str, Any], args: Any, optimizer: Any, schedule: Any) -> None:
    """Changes a resumed optimizer and its schedule from the saved rates to those of ``args``. Learning rates keep
    their ratio to the saved base rate, so that a schedule continues at the same point.
    """
    ratio = _ratio(saved.get("learning_rate"), args.learning_rate)
    decay = saved.get("weight_decay")
    for group in optimizer.param_groups:
        for name in ("lr", "initial_lr"):
            if ratio is not None and name in group:
                group[name] *= ratio
        # A group with another weight decay, such as that of the biases, was set by the script.
        if decay is not None and group.get("weight_decay") == decay:
            group["weight_decay"] = args.weight_decay
    if ratio is not None and hasattr(schedule, "base_lrs"):
        schedule.base_lrs = [rate * ratio for rate in schedule.base_lrs]
        # The next log reads this rate: the schedule updates it only with its next step.
        rates = [group["lr"] for group in optimizer.param_groups]
        schedule._last_lr = rates  # noqa: SLF001 — torch has no other way


def _ratio(before: float | None, now: float) -> float | None:
    """The factor of the change; None if the rate is unchanged, so that it stays equal to the bit."""
    return None if not before or before == now else now / before
