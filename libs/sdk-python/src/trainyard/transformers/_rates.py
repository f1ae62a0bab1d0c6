"""A trial's own rates after a restart.

The Trainer resumes an optimizer and a schedule with the rates that they were saved with. A trial of
a search that copies trials begins from another one's checkpoint with hyperparameters of its own,
and these count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RATES = ("learning_rate", "weight_decay")


def rates_of(args: object) -> dict[str, float]:
    """The part of the arguments that a checkpoint's metadata keep."""
    return {name: float(getattr(args, name)) for name in RATES}


def apply_rates(saved: Mapping[str, Any], args: Any, optimizer: Any, schedule: Any) -> None:
    """Brings a resumed optimizer and its schedule from the rates that were saved to those of
    ``args``.

    Learning rates keep their proportion to the one that was saved, so that a schedule continues where
    it was.
    """
    ratio = _ratio(saved.get("learning_rate"), args.learning_rate)
    decay = saved.get("weight_decay")
    for group in optimizer.param_groups:
        for name in ("lr", "initial_lr"):
            if ratio is not None and name in group:
                group[name] *= ratio
        # A group that decays otherwise, such as that of the biases, is the script's own doing.
        if decay is not None and group.get("weight_decay") == decay:
            group["weight_decay"] = args.weight_decay
    if ratio is not None and hasattr(schedule, "base_lrs"):
        schedule.base_lrs = [rate * ratio for rate in schedule.base_lrs]
        # The rate of the next log; the schedule itself sets it with its next step only.
        rates = [group["lr"] for group in optimizer.param_groups]
        schedule._last_lr = rates  # noqa: SLF001 — torch has no other way


def _ratio(before: float | None, now: float) -> float | None:
    """None where nothing is to be done: rates that stay are left as they are, to the bit."""
    return None if not before or before == now else now / before
