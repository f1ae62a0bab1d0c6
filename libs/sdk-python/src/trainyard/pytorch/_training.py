"""The common state of a trial's context and its trainer in one training; the trial sees only the context."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from .._distributed import DistributedContext
from .._info import Info
from ..tensorboard import TensorBoardContext
from . import _models
from ._optimizers import Wrapped
from ._profiling import Profiling
from ._progress import Place
from .metrics import MetricReducers

if TYPE_CHECKING:
    from ._context import PyTorchTrialContext


class Core(Protocol):
    """The part of a ``trainyard.Context`` that a trial's context needs, also for a trial that is loaded outside of
    any run.
    """

    @property
    def info(self) -> Info:
        raise NotImplementedError

    @property
    def distributed(self) -> DistributedContext:
        raise NotImplementedError

    @property
    def tensorboard(self) -> TensorBoardContext:
        raise NotImplementedError


class Training:
    """The position of the training, and its models, optimizers and reducers."""

    def __init__(self, core: Core, place: Place, aggregation_frequency: int) -> None:
        self.core = core
        self.place = place
        self.aggregation_frequency = aggregation_frequency
        self.wrapped: list[Wrapped] = []
        self.reducers = MetricReducers(core.distributed)
        self.profiling = Profiling(core.tensorboard, core.distributed)
        self.passes = 0
        """The number of ``backward`` calls of the current batch."""
        self.began = False

    @property
    def is_step_due(self) -> bool:
        """Whether the optimizers take their step at this batch."""
        return (self.place.batch + 1) % self.aggregation_frequency == 0

    def begin_batch(self, context: PyTorchTrialContext, batch_idx: int) -> bool:
        """Moves to a batch. Returns whether ``around_batch`` has an effect for it."""
        self.place.batch = batch_idx
        self.passes = 0
        for wrapped in self.wrapped:
            wrapped.stepped_at = None
        adds_up = self.core.distributed.size > 1 and not self.is_step_due
        return context.experimental.amp or adds_up

    @contextlib.contextmanager
    def around_batch(self, context: PyTorchTrialContext) -> Iterator[None]:
        """Surrounds a ``train_batch``: with mixed precision, and without an exchange of gradients while they are
        only accumulated.
        """
        due = self.is_step_due
        with contextlib.ExitStack() as stack:
            if not due and self.core.distributed.size > 1:
                stack.enter_context(_models.without_sync(context.models))
            if context.experimental.amp:
                stack.enter_context(context.autocast())
            yield
        if due and context.experimental.scaler is not None:
            context.experimental.scaler.update()

    def check_optimizers(self, context: PyTorchTrialContext) -> None:
        """Raises ValueError for an optimizer with parameters of an unwrapped model: no checkpoint would contain
        them, and each rank would have different ones.
        """
        known = {id(one) for model in context.models for one in model.parameters()}
        for wrapped in self.wrapped:
            strange = [one for one in wrapped.parameters() if id(one) not in known]
            if not strange:
                continue
            shape, name = list(strange[0].shape), type(wrapped.optimizer).__name__
            count = len(strange)
            raise ValueError(
                f"an optimizer ({name}) trains {count} {'parameter' if count == 1 else 'parameters'} "
                f"that no wrapped model has (the first has the shape {shape}), which no checkpoint "
                "would hold and no other rank would share: call "
                "model = context.wrap_model(model) in the trial's __init__, before the optimizer is made"
            )
