"""Learning rate schedulers that the trainer steps."""

from __future__ import annotations

import enum
from typing import Any

from torch.optim.lr_scheduler import ReduceLROnPlateau


class LRScheduler:
    """A PyTorch scheduler and its step mode; created by ``context.wrap_lr_scheduler``."""

    class StepMode(enum.Enum):
        """The event at which the trainer steps a scheduler. The values are Determined's numbers, which
        hyperparameters may contain.
        """

        STEP_EVERY_EPOCH = 1
        """The trainer steps after the last batch of each epoch."""
        STEP_EVERY_BATCH = 2
        """The trainer steps after each batch, with or without an optimizer step."""
        STEP_EVERY_OPTIMIZER_STEP = 4
        """The trainer steps after each batch with an optimizer step. This differs from STEP_EVERY_BATCH if
        ``aggregation_frequency`` is above 1.
        """
        MANUAL_STEP = 3
        """The trainer never steps: the trial calls ``step``."""

    def __init__(self, scheduler: Any, step_mode: LRScheduler.StepMode, frequency: int = 1) -> None:
        """With ``frequency`` n, the trainer steps the scheduler at every n-th event."""
        if not callable(getattr(scheduler, "step", None)):
            raise TypeError(
                f"wrap_lr_scheduler() takes a scheduler of torch.optim.lr_scheduler, not {scheduler!r}"
            )
        if not isinstance(step_mode, LRScheduler.StepMode):
            raise TypeError(
                f"wrap_lr_scheduler(step_mode={step_mode!r}) takes one of LRScheduler.StepMode"
            )
        if (
            isinstance(scheduler, ReduceLROnPlateau)
            and step_mode is not LRScheduler.StepMode.MANUAL_STEP
        ):
            raise ValueError(
                "wrap_lr_scheduler() takes ReduceLROnPlateau with MANUAL_STEP only, since it steps by "
                "a metric: call its step(metric) in on_validation_end of a callback"
            )
        if isinstance(frequency, bool) or not isinstance(frequency, int) or frequency < 1:
            raise ValueError(
                f"wrap_lr_scheduler(frequency={frequency!r}) takes a whole number of at least 1"
            )
        self._scheduler = scheduler
        self._step_mode = step_mode
        self._frequency = frequency

    @property
    def scheduler(self) -> Any:
        """The wrapped PyTorch scheduler."""
        return self._scheduler

    @property
    def step_mode(self) -> LRScheduler.StepMode:
        """The event at which the trainer steps the scheduler."""
        return self._step_mode

    @property
    def frequency(self) -> int:
        """The number of events per scheduler step."""
        return self._frequency

    def step(self, *args: Any, **kwargs: Any) -> None:
        """Steps the scheduler; call it yourself only with MANUAL_STEP."""
        self._scheduler.step(*args, **kwargs)

    def get_last_lr(self) -> Any:
        """The current learning rates, one for each parameter group."""
        return self._scheduler.get_last_lr()

    def state_dict(self) -> dict[str, Any]:
        """Returns the state of the PyTorch scheduler."""
        return self._scheduler.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores the state of the PyTorch scheduler."""
        self._scheduler.load_state_dict(state_dict)
