"""Reports Lightning's metrics to the platform."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._context import Context
from .._train import TRAINING, VALIDATION
from ._package import loggers

TEST = "test"


class Logger(loggers.Logger):
    """Reports the metrics that a ``LightningModule`` logs. Metrics logged during a validation are validation
    metrics, those logged during a test are in the group ``test``, and all others are training metrics. Their names
    are unchanged. Steps are ``trainer.global_step``, the optimizer steps done. Groups and steps need
    ``trainyard.lightning.Callback`` in the same trainer. Without it, names that begin with ``val`` or ``test``
    decide the group, and a step is Lightning's index plus one.
    """

    def __init__(self, ctx: Context) -> None:
        super().__init__()
        self._ctx = ctx
        self._trainer: Any = None

    @property
    def name(self) -> str:
        """The platform's name: Lightning's experiment name has no counterpart."""
        return "trainyard"

    @property
    def version(self) -> str:
        """The ids of trial and run, as in ``12.3#2``."""
        return self._ctx.info.run_id

    def follow(self, trainer: object) -> None:
        """Sets the trainer from which steps and stages are read."""
        self._trainer = trainer

    def log_hyperparams(self, params: object, *args: object, **kwargs: object) -> None:
        """Does nothing: the platform has the trial's hyperparameters already."""

    def log_metrics(self, metrics: Mapping[str, Any], step: int | None = None) -> None:
        """Reports metrics, on the chief."""
        if self._trainer is not None:
            if self._trainer.sanity_checking:
                return
            steps = self._trainer.global_step
            self._ctx.train.report_metrics(self._group_of_stage(), steps, dict(metrics))
            return
        for group, part in by_name(metrics).items():
            self._ctx.train.report_metrics(group, (step or 0) + 1, part)

    def _group_of_stage(self) -> str:
        if self._trainer.validating:
            return VALIDATION
        return TEST if self._trainer.testing else TRAINING


def by_name(metrics: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Groups metrics by their names' prefixes; each group also gets ``epoch``."""
    groups: dict[str, dict[str, Any]] = {}
    for name, value in metrics.items():
        if name != "epoch":
            begins = (g for w, g in (("val", VALIDATION), (TEST, TEST)) if name.startswith(w))
            groups.setdefault(next(begins, TRAINING), {})[name] = value
    if "epoch" in metrics:
        for part in groups.values():
            part["epoch"] = metrics["epoch"]
    return groups
