"""Takes optimizer steps: averages, clips and scales the gradients, and explains errors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Callable

import torch

from ._models import Replica


class Wrapped:
    """An optimizer and the state of its steps."""

    def __init__(self, optimizer: torch.optim.Optimizer, averages: bool) -> None:
        self.optimizer = optimizer
        self.averages = averages
        # The number of backward passes at the optimizer's latest step in this batch; None before a step.
        self.stepped_at: int | None = None
        # The options with which the parameter groups were built.
        self.built = [options_of(group) for group in optimizer.param_groups]

    def parameters(self) -> list[torch.nn.Parameter]:
        """All parameters of the optimizer."""
        return [one for group in self.optimizer.param_groups for one in group["params"]]

    def average(self, passes: int) -> None:
        """Divides the gradients by the number of batches over which they were summed."""
        gradients = [one.grad for one in self.parameters() if one.grad is not None]
        if gradients:
            torch._foreach_div_(gradients, float(passes))

    def step(self, clip: Callable[[Iterable[torch.nn.Parameter]], Any] | None, scaler: Any) -> None:
        """Clips the gradients and takes the optimizer step."""
        if isinstance(self.optimizer, torch.optim.LBFGS):
            raise TypeError(
                "step_optimizer() cannot take a step of LBFGS, which computes the loss several times: "
                "call optimizer.step(closure) in train_batch instead"
            )
        if clip is not None:
            if scaler is not None:
                unscale_once(scaler, self.optimizer)
            clip(self.parameters())
        if scaler is None:
            self.optimizer.step()
        else:
            scaler.step(self.optimizer)


def options_of(group: dict[str, Any]) -> dict[str, Any]:
    """The numeric options of a parameter group, such as lr and weight_decay; lr is the value before any scheduler."""
    options = {
        name: value
        for name, value in group.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    if "initial_lr" in options:
        options["lr"] = options.pop("initial_lr")
    return options


def unscale_once(scaler: Any, optimizer: torch.optim.Optimizer) -> None:
    """Unscales the gradients, unless the trial has done so for this step."""
    try:
        scaler.unscale_(optimizer)
    except RuntimeError as error:
        if "already been called" not in str(error):
            raise


def follow_hparams(
    optimizer: torch.optim.Optimizer,
    schedulers: list[Any],
    before: list[dict[str, Any]],
    now: list[dict[str, Any]],
) -> None:
    """Applies a trial's hyperparameters to an optimizer that was restored from another trial's checkpoint, as in
    population-based training. An option that was built with another value gets this value. The learning rate is
    scaled instead, so that it keeps its place in the schedule.
    """
    for n, (was, built) in enumerate(zip(before, now)):
        group = optimizer.param_groups[n]
        for name, value in built.items():
            old = was.get(name)
            if old is None or old == value:
                continue
            if name == "lr" and old != 0:
                group["lr"] = group["lr"] * (value / old)
                _scale_schedule(optimizer, schedulers, n, value / old)
            else:
                group[name] = value


def _scale_schedule(
    optimizer: torch.optim.Optimizer, schedulers: list[Any], group: int, ratio: float
) -> None:
    if "initial_lr" in optimizer.param_groups[group]:
        optimizer.param_groups[group]["initial_lr"] *= ratio
    for scheduler in schedulers:
        if getattr(scheduler, "optimizer", None) is not optimizer:
            continue
        for name in ("base_lrs", "_last_lr"):
            rates = getattr(scheduler, name, None)
            if isinstance(rates, list) and group < len(rates):
                rates[group] = rates[group] * ratio


def compress_gradients(models: list[torch.nn.Module], parameters: list[torch.nn.Parameter]) -> None:
    """Makes the replicas of these parameters exchange their gradients as float16."""
    ids = {id(one) for one in parameters}
    for model in models:
        if isinstance(model, Replica) and any(id(one) in ids for one in model.parameters()):
            model.compress()
