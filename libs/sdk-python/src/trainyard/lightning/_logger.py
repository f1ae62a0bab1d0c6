"""Lightning's metrics as the platform's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._context import Context
from .._train import TRAINING, VALIDATION
from ._package import loggers

TEST = "test"


class Logger(loggers.Logger):
    """Reports what a ``LightningModule`` logs.

    What is logged while the trainer validates is a validation metric, while it tests one of the
    group ``test``, else a training metric; names stay as they are. Steps are
    ``trainer.global_step``, the optimizer steps done. Both need ``trainyard.lightning.Callback`` in
    the same trainer; without it names that begin with ``val`` or ``test`` decide, and steps are one
    more than Lightning's index.
    """

    def __init__(self, ctx: Context) -> None:
        super().__init__()
        self._ctx = ctx
        self._trainer: Any = None

    @property
    def name(self) -> str:
        """The platform's name: what Lightning calls an experiment has no other here."""
        return "trainyard"

    @property
    def version(self) -> str:
        """Trial and run, as in ``12.3#2``."""
        return self._ctx.info.run_id

    def follow(self, trainer: object) -> None:
        """Takes steps and stages from a trainer from now on."""
        self._trainer = trainer

    def log_hyperparams(self, params: object, *args: object, **kwargs: object) -> None:
        """Does nothing: the trial's hyperparameters are the platform's already."""

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
    """Metrics in the groups that their names stand for; ``epoch`` goes with each."""
    groups: dict[str, dict[str, Any]] = {}
    for name, value in metrics.items():
        if name != "epoch":
            begins = (g for w, g in (("val", VALIDATION), (TEST, TEST)) if name.startswith(w))
            groups.setdefault(next(begins, TRAINING), {})[name] = value
    if "epoch" in metrics:
        for part in groups.values():
            part["epoch"] = metrics["epoch"]
    return groups
