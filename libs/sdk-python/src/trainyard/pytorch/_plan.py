"""The checked arguments of ``Trainer.fit``, with defaults from the configuration."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import _search_metric
from ._units import Batch, Epoch, TrainUnit, checked, length_of

POLICIES = ("best", "all", "none")


class Plan(NamedTuple):
    """The periods and the length of a training."""

    checkpoint_period: TrainUnit | None
    validation_period: TrainUnit | None
    reporting_period: TrainUnit | None
    max_length: TrainUnit
    checkpoint_policy: str
    step_zero_validation: bool
    test_mode: bool
    metric: str | None
    """The searcher's metric; None if the configuration has none."""
    needs_metric: bool
    """Whether the search cannot use a validation without the metric."""
    smaller_is_better: bool
    profiling_enabled: bool = False

    def units(self) -> dict[str, Any]:
        """The length and the periods, by the names of fit's arguments."""
        return {
            "checkpoint_period": self.checkpoint_period,
            "validation_period": self.validation_period,
            "reporting_period": self.reporting_period,
            "max_length": self.max_length,
        }

    def check_against(self, length: int | None) -> None:
        """Raises ValueError if a unit counts epochs and the loader has no length."""
        for name, unit in self.units().items():
            if isinstance(unit, Epoch) and length is None:
                raise ValueError(
                    f"Trainer.fit({name}={unit!r}) counts epochs, and the training loader has no "
                    "length: give pytorch.Batch(n), or a dataset with __len__"
                )


def plan_of(
    config: dict[str, Any],
    search_needs_metric: bool,
    checkpoint_period: object,
    validation_period: object,
    reporting_period: object,
    max_length: object,
    checkpoint_policy: object,
    step_zero_validation: bool,
    test_mode: bool,
) -> Plan:
    """Checks the arguments. Raises TypeError or ValueError with a sentence that names the argument."""
    policy = (
        config.get("checkpoint_policy", "best") if checkpoint_policy is None else checkpoint_policy
    )
    if policy not in POLICIES:
        raise ValueError(f"Trainer.fit(checkpoint_policy={policy!r}) takes 'best', 'all' or 'none'")
    length = checked(max_length, "max_length") or length_of(config)
    if length is not None and not length.is_periodic:
        raise TypeError(f"Trainer.fit(max_length={length!r}) takes one number, not several")
    if test_mode:
        length = Batch(1)
    if length is None:
        raise ValueError(
            "Trainer.fit() needs max_length, for example pytorch.Epoch(10), where the "
            "configuration has neither searcher.max_length nor a searcher.max_time in batches or "
            "epochs"
        )
    metric = _search_metric.metric_of(config)
    return Plan(
        checked(checkpoint_period, "checkpoint_period") or _period(config, "min_checkpoint_period"),
        checked(validation_period, "validation_period") or _period(config, "min_validation_period"),
        checked(reporting_period, "reporting_period"),
        length,
        policy,
        bool(step_zero_validation),
        bool(test_mode),
        metric,
        metric is not None and search_needs_metric,
        _search_metric.smaller_is_better(config),
    )


def _period(config: dict[str, Any], key: str) -> TrainUnit | None:
    """A period of the configuration: {batches: n} or {epochs: n}, where 0 means never."""
    period = config.get(key)
    if not isinstance(period, dict) or len(period) != 1:
        return None
    ((name, value),) = period.items()
    kind = {"batches": Batch, "epochs": Epoch}.get(name)
    if kind is None or not isinstance(value, int) or value < 1:
        return None
    return kind(value)


def batches_of(length: TrainUnit, epoch_length: int | None) -> float:
    """The length in batches. For Epoch, the batches of one epoch must be known."""
    if isinstance(length, Epoch):
        assert epoch_length is not None
        return length.value * epoch_length
    return length.value
