"""The searcher's metric, and whether the search uses its values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _log as log

# The number of a report's names that a message lists.
_NAMES_SHOWN = 16


def metric_of(config: Mapping[str, Any]) -> str | None:
    """The name of the searcher's metric; None if the configuration has none."""
    metric = _searcher_of(config).get("metric")
    return metric if isinstance(metric, str) else None


def smaller_is_better(config: Mapping[str, Any]) -> bool:
    """Whether a smaller value of the searcher's metric is better."""
    return bool(_searcher_of(config).get("smaller_is_better", True))


def _searcher_of(config: Mapping[str, Any]) -> Mapping[str, Any]:
    searcher = config.get("searcher")
    return searcher if isinstance(searcher, dict) else {}


class SearchMetricCheck:
    """Warns once if a validation has no number for the searcher's metric. The training continues: if the search
    needs the metric, the platform ends the trial.
    """

    def __init__(self, metric: str | None) -> None:
        self._metric = metric
        self._warned = False

    def without_the_rest(self, metrics: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Returns smaller forms of a validation that is too large, largest first: only its numbers, then only the
        searcher's metric. Metrics are proto JSON.
        """
        numbers = {name: value for name, value in metrics.items() if is_number(value)}
        alone = {name: value for name, value in numbers.items() if name == self._metric}
        return [some for some in (numbers, alone) if some and len(some) < len(metrics)]

    def check(self, steps: float, metrics: Mapping[str, Any]) -> None:
        """Warns if the metrics of a validation, as proto JSON, lack the searcher's metric or have no number for it."""
        name = self._metric
        if name is None or self._warned or is_number(metrics.get(name)):
            return
        self._warned = True
        if name in metrics:
            message = "the validation at step %s reports %r, the searcher's metric, as %s: report it as a number"
            log.warning(message, steps, name, _kind_of(metrics[name]))
            return
        names = ", ".join(sorted(metrics)[:_NAMES_SHOWN]) or "none"
        message = (
            "the validation at step %s has no metric %r, the searcher's metric (there are: %s)"
        )
        log.warning(message, steps, name, names)


def is_number(value: object) -> bool:
    """Whether a proto JSON value is shown as a number in charts."""
    if isinstance(value, bool):
        return False
    return isinstance(value, (int, float)) or value in ("NaN", "Infinity", "-Infinity")


def _kind_of(value: object) -> str:
    kinds = {str: "text", bool: "a truth value", list: "a list", dict: "a mapping"}
    return "nothing" if value is None else kinds.get(type(value), type(value).__name__)
