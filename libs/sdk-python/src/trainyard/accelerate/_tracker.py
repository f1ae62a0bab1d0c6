"""The values of ``accelerator.log``, as the trial's metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._context import Context
from .._frameworks import require
from .._train import TRAINING, VALIDATION, TrainContext

tracking = require("accelerate.tracking", "trainyard.accelerate", "accelerate")


class Tracker(tracking.GeneralTracker):
    """Reports what ``accelerator.log(values, step=…)`` is given, where ``step`` is the steps
    completed.

    Values whose names all begin with ``val`` or ``eval`` are validation metrics, others training
    metrics; ``log_kwargs={"trainyard": {"group": …}}`` names the group instead. Give it as
    ``Accelerator(log_with=Tracker(ctx))`` and call ``accelerator.init_trackers``.
    """

    name = "trainyard"
    requires_logging_directory = False
    main_process_only = True

    def __init__(self, ctx: Context) -> None:
        super().__init__()
        self._ctx = ctx

    @property
    def tracker(self) -> TrainContext:
        """``ctx.train``, for what the tracker has no word for."""
        return self._ctx.train

    def store_init_configuration(self, values: Mapping[str, Any]) -> None:
        """Does nothing: the trial's hyperparameters are the platform's already."""

    def log(
        self,
        values: Mapping[str, Any],
        step: int | None = None,
        group: str | None = None,
        **more: object,
    ) -> None:
        """Reports metrics. Raises ValueError without a step: every report is of one."""
        if step is None:
            raise ValueError(
                "accelerator.log needs step=, the steps completed, to report to the platform"
            )
        validated = all(name.startswith(("val", "eval")) for name in values)
        chosen = group or (VALIDATION if validated else TRAINING)
        self._ctx.train.report_metrics(chosen, step, dict(values))
