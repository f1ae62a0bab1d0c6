"""The class that a user writes: a model, its data, and the training and validation of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Union

import torch

from ._callback import PyTorchCallback
from .data import data_length
from .metrics import Reducer

if TYPE_CHECKING:
    from ._context import PyTorchTrialContext

Metrics = Union[torch.Tensor, dict[str, Any]]


class PyTorchTrial:
    """A training that ``pytorch.Trainer`` drives.

    Write ``__init__``, ``build_training_data_loader``, ``build_validation_data_loader``, ``train_batch`` and
    either ``evaluate_batch`` or ``evaluate_full_dataset``. Models, optimizers and schedulers are created in
    ``__init__`` and passed through the context. Distributed training, mixed precision and checkpoints need nothing
    else.
    """

    def __init__(self, context: PyTorchTrialContext) -> None:
        self.context = context

    def build_training_data_loader(self) -> Any:
        """Returns a ``pytorch.DataLoader`` with the training data."""
        raise NotImplementedError(missing("build_training_data_loader"))

    def build_validation_data_loader(self) -> Any:
        """Returns a ``pytorch.DataLoader`` with the validation data."""
        raise NotImplementedError(missing("build_validation_data_loader"))

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> Metrics:
        """Trains on one batch, through ``context.backward`` and ``context.step_optimizer``.

        ``batch`` is on the context's device. ``epoch_idx`` and ``batch_idx`` count from 0, ``batch_idx`` since the
        beginning of the training. Returns the loss, or a dict from names to numbers and tensors of one element.
        Return tensors instead of reading them (``loss.item()``), which would make the training wait for the GPU.
        """
        raise NotImplementedError(missing("train_batch"))

    if TYPE_CHECKING:
        # Declared with and without batch_idx, so that a type checker accepts both.
        def evaluate_batch(self, batch: Any, *args: Any, **kwargs: Any) -> dict[str, Any]: ...

    else:

        def evaluate_batch(self, batch: Any, batch_idx: int = 0) -> dict[str, Any]:
            """Evaluates one batch of the validation data, without gradients. Returns a dict from names to numbers
            and tensors of one element, which ``evaluation_reducer`` combines. The parameter ``batch_idx``, which
            counts from 0, may be omitted.
            """
            raise NotImplementedError(missing("evaluate_batch"))

    def evaluate_full_dataset(self, data_loader: Any) -> dict[str, Any]:
        """Evaluates all of the validation data, without gradients, instead of ``evaluate_batch``. In distributed
        training only the first process does this.
        """
        raise NotImplementedError(missing("evaluate_full_dataset"))

    def evaluation_reducer(self) -> Reducer | Mapping[str, Reducer]:
        """Returns how the results of ``evaluate_batch`` are combined: one reducer for all metrics, or a dict from
        names to reducers.
        """
        return Reducer.AVG

    def get_batch_length(self, batch: Any) -> int:
        """Returns the number of samples of a batch, its weight in the averages of a validation: by default the
        length of the first tensor or array in it.
        """
        return data_length(batch)

    def build_callbacks(self) -> Mapping[str, PyTorchCallback]:
        """Returns the callbacks by name. A callback's state is stored under its name, so the names must not change."""
        return {}


def missing(method: str) -> str:
    """The message about a trial that lacks a required method."""
    return f"the trial has no method {method}(): write it, as PyTorchTrial.{method} says"


def overrides(trial: PyTorchTrial, method: str) -> bool:
    """Whether a trial's class overrides a method."""
    return getattr(type(trial), method, None) is not getattr(PyTorchTrial, method)


def check_trial(trial: Any) -> None:
    """Raises TypeError for a trial that cannot be trained."""
    if not isinstance(trial, PyTorchTrial):
        raise TypeError(
            f"pytorch.Trainer() takes an instance of a PyTorchTrial, not {trial!r}: "
            "pass Trial(context)"
        )
    needed = ("build_training_data_loader", "build_validation_data_loader", "train_batch")
    for method in needed:
        if not overrides(trial, method):
            raise TypeError(f"{type(trial).__name__}: {missing(method)}")
    batch = overrides(trial, "evaluate_batch")
    whole = overrides(trial, "evaluate_full_dataset")
    if batch == whole:
        methods = "both evaluate_batch() and" if batch else "neither evaluate_batch() nor"
        raise TypeError(
            f"{type(trial).__name__} has {methods} evaluate_full_dataset(): write exactly one of them"
        )
