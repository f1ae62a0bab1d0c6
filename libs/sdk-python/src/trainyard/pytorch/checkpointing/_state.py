"""Collects and restores the state of a training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from .. import _models, _optimizers
from .._context import PyTorchTrialContext, training_of
from .._progress import Counters

inner = _models.inner

FORMAT = 1


def shared_of(context: PyTorchTrialContext, counters: Counters, trains_on: bool) -> dict[str, Any]:
    """Returns the state that is the same in all processes, with the tensors that the training continues to use.
    ``trains_on``: an optimizer's step is incomplete; then gradients differ between processes and are not included.
    """
    models = [_models.inner(model) for model in context.models]
    return {
        "format": FORMAT,
        "models_state_dict": [model.state_dict() for model in models],
        "optimizers_state_dict": [
            one.optimizer.state_dict() for one in training_of(context).wrapped
        ],
        "optimizers_built": [one.built for one in training_of(context).wrapped],
        "kinds": _kinds(context),
        "lr_schedulers_state_dict": [one.state_dict() for one in context.lr_schedulers],
        "scalers_state_dict": [scaler.state_dict() for scaler in context.scalers],
        "evaluating": [_evaluating(model) for model in models],
        "gradients": {} if trains_on else gradients_of(context),
        "counters": counters.state_dict(),
        "processes": context.distributed.size,
    }


def gradients_of(context: PyTorchTrialContext) -> dict[str, torch.Tensor]:
    """Returns the gradients that are not cleared: those of an incomplete step, or that the trial keeps."""
    return {name: one.grad for name, one in _parameters(context) if one.grad is not None}


def give_gradients(context: PyTorchTrialContext, gradients: dict[str, torch.Tensor]) -> None:
    """Restores gradients."""
    for name, parameter in _parameters(context):
        if name in gradients:
            parameter.grad = gradients[name].to(parameter.device)
        else:
            parameter.grad = None


def _parameters(context: PyTorchTrialContext) -> Iterator[tuple[str, torch.nn.Parameter]]:
    seen = set()
    for n, model in enumerate(context.models):
        for name, parameter in _models.inner(model).named_parameters():
            seen.add(id(parameter))
            yield f"model {n} {name}", parameter
    for n, wrapped in enumerate(training_of(context).wrapped):
        for m, parameter in enumerate(wrapped.parameters()):
            if id(parameter) not in seen:
                yield f"optimizer {n} {m}", parameter


def _evaluating(model: torch.nn.Module) -> list[str]:
    return [name for name, part in model.named_modules() if not part.training]


def load_shared(
    context: PyTorchTrialContext, counters: Counters, state: dict[str, Any], uuid: str
) -> None:
    """Restores the state of a checkpoint. Raises ValueError for a checkpoint of another model."""
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        raise ValueError(
            f"checkpoint {uuid} was not stored by this version of pytorch.Trainer: load it in the "
            "trial's __init__ instead"
        )
    _check_numbers(context, state, uuid)
    _check_kinds(context, state, uuid)
    for n, model in enumerate(context.models):
        load_model(_models.inner(model), state["models_state_dict"][n], n, uuid)
    schedulers = [one.scheduler for one in context.lr_schedulers]
    for one, saved in zip(context.lr_schedulers, state["lr_schedulers_state_dict"]):
        one.load_state_dict(saved)
    for n, wrapped in enumerate(training_of(context).wrapped):
        try:
            wrapped.optimizer.load_state_dict(state["optimizers_state_dict"][n])
        except (ValueError, KeyError) as error:
            raise ValueError(
                f"checkpoint {uuid} has another optimizer {n} than "
                f"{type(wrapped.optimizer).__name__} ({error}): {_REMEDY}"
            ) from error
        _optimizers.follow_hparams(
            wrapped.optimizer, schedulers, state["optimizers_built"][n], wrapped.built
        )
    for scaler, saved in zip(context.scalers, state["scalers_state_dict"]):
        scaler.load_state_dict(saved)
    counters.load_state_dict(state["counters"])


def restore_modes(context: PyTorchTrialContext, state: dict[str, Any]) -> None:
    """Restores the evaluation mode of modules that the trial keeps in it."""
    for model, names in zip(context.models, state["evaluating"]):
        parts = dict(_models.inner(model).named_modules())
        for name in names:
            if name in parts:
                parts[name].training = False


_REMEDY = (
    "build the trial as it was when the checkpoint was stored, or start without the checkpoint"
)


def _check_numbers(context: PyTorchTrialContext, state: dict[str, Any], uuid: str) -> None:
    kinds = (
        ("models_state_dict", "wrap_model", len(context.models)),
        ("optimizers_state_dict", "wrap_optimizer", len(training_of(context).wrapped)),
        ("lr_schedulers_state_dict", "wrap_lr_scheduler", len(context.lr_schedulers)),
        ("scalers_state_dict", "wrap_scaler", len(context.scalers)),
    )
    for key, method, here in kinds:
        there = len(state[key])
        if there != here:
            raise ValueError(
                f"checkpoint {uuid} is of another model: {method}() was called {there} times for "
                f"it and {here} times here: {_REMEDY}"
            )


def _kinds(context: PyTorchTrialContext) -> dict[str, list[str]]:
    """The class names of objects whose state only the same class can load."""
    return {
        "optimizer": [type(one).__name__ for one in context.optimizers],
        "scheduler": [type(one.scheduler).__name__ for one in context.lr_schedulers],
    }


def _check_kinds(context: PyTorchTrialContext, state: dict[str, Any], uuid: str) -> None:
    for name, here in _kinds(context).items():
        # Older checkpoints have no class names.
        there = state.get("kinds", {}).get(name, here)
        for n, (current, stored) in enumerate(zip(here, there)):
            if current != stored:
                raise ValueError(
                    f"checkpoint {uuid} has the {name} {n} {stored}, and the trial has {current}: {_REMEDY}"
                )


def load_model(model: torch.nn.Module, state: dict[str, Any], n: int, uuid: str) -> None:
    """Loads the weights of a model; ``n`` is its number."""
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        raise ValueError(
            f"checkpoint {uuid} is of another model: {_difference(model.state_dict(), state)} in "
            f"model {n}: {_REMEDY}"
        ) from error


def _difference(here: dict[str, Any], there: dict[str, Any]) -> str:
    for name in [*here, *there]:
        current, stored = _shape(here.get(name)), _shape(there.get(name))
        if current != stored:
            return f"{name} is {stored} there and {current} here"
    return "it has other parts"


def _shape(value: object) -> str:
    if value is None:
        return "absent"
    return str(list(value.shape)) if isinstance(value, torch.Tensor) else type(value).__name__
