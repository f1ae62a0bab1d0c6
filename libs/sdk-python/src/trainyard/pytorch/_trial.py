"""The class that a user writes: a model, its data, and what to do with a batch."""

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

    Write ``__init__``, ``build_training_data_loader``, ``build_validation_data_loader``,
    ``train_batch`` and either ``evaluate_batch`` or ``evaluate_full_dataset``. Models, optimizers and
    schedulers are made in ``__init__`` and passed through the context, which is all that distributed
    training, mixed precision and checkpoints need.
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

        ``batch`` is on the context's device already. ``epoch_idx`` and ``batch_idx`` count from 0,
        the latter from the beginning of the training. Returns the loss, or a dict from names to
        numbers and tensors of one element; reading a tensor (``loss.item()``) here makes a GPU
        wait, returning it does not.
        """
        raise NotImplementedError(missing("train_batch"))

    if TYPE_CHECKING:
        # With and without batch_idx: a type checker takes both.
        def evaluate_batch(self, batch: Any, *args: Any, **kwargs: Any) -> dict[str, Any]: ...

    else:

        def evaluate_batch(self, batch: Any, batch_idx: int = 0) -> dict[str, Any]:
            """Measures one batch of the validation data, without gradients. Returns a dict from names
            to numbers and tensors of one element, which ``evaluation_reducer`` combines. It may be
            written without ``batch_idx``, which counts from 0.
            """
            raise NotImplementedError(missing("evaluate_batch"))

    def evaluate_full_dataset(self, data_loader: Any) -> dict[str, Any]:
        """Measures all of the validation data, without gradients, instead of ``evaluate_batch``. In
        distributed training the first process does it alone.
        """
        raise NotImplementedError(missing("evaluate_full_dataset"))

    def evaluation_reducer(self) -> Reducer | Mapping[str, Reducer]:
        """How the results of ``evaluate_batch`` become one: the same for all metrics, or a dict
        from names.
        """
        return Reducer.AVG

    def get_batch_length(self, batch: Any) -> int:
        """The samples of a batch, by which averages of a validation weigh it: the length of the
        first tensor or array that is found in it.
        """
        return data_length(batch)

    def build_callbacks(self) -> Mapping[str, PyTorchCallback]:
        """Returns the callbacks by names that stay the same: their state is stored under them."""
        return {}


def missing(method: str) -> str:
    """The message about a trial without a method that it needs."""
    return f"the trial has no method {method}(): write it, as PyTorchTrial.{method} says"


def overrides(trial: PyTorchTrial, method: str) -> bool:
    """Whether a trial's class has its own version of a method."""
    return getattr(type(trial), method, None) is not getattr(PyTorchTrial, method)


def check_trial(trial: Any) -> None:
    """Raises TypeError in one sentence for a trial that cannot be trained."""
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
