"""Reports the values of ``accelerator.log`` as the trial's metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._context import Context
from .._frameworks import require
from .._train import TRAINING, VALIDATION, TrainContext

tracking = require("accelerate.tracking", "trainyard.accelerate", "accelerate")


class Tracker(tracking.GeneralTracker):
    """Reports the values of ``accelerator.log(values, step=…)``, where ``step`` is the number of steps completed.

    Values whose names all begin with ``val`` or ``eval`` are validation metrics, others training metrics;
    ``log_kwargs={"trainyard": {"group": …}}`` sets another group. Pass the tracker as
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
        """``ctx.train``, for reports that the tracker does not support."""
        return self._ctx.train

    def store_init_configuration(self, values: Mapping[str, Any]) -> None:
        """Does nothing: the platform has the trial's hyperparameters already."""

    def log(
        self,
        values: Mapping[str, Any],
        step: int | None = None,
        group: str | None = None,
        **more: object,
    ) -> None:
        """Reports metrics. Raises ValueError without a step: every report needs one."""
        if step is None:
            raise ValueError(
                "accelerator.log needs step=, the steps completed, to report to the platform"
            )
        validated = all(name.startswith(("val", "eval")) for name in values)
        chosen = group or (VALIDATION if validated else TRAINING)
        self._ctx.train.report_metrics(chosen, step, dict(values))
