"""Lengths and periods of training: batches, epochs, seconds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


class TrainUnit:
    """A length or a period of training; use Batch, Epoch or Second.

    A period may also be a list, tuple, set or range of counts: ``Batch([5, 30, 45])`` means after the 5th, the
    30th and the 45th batch. Raises TypeError for a value that is not a number, and ValueError for one that is not
    above zero.
    """

    def __init__(self, value: object) -> None:
        self.value = self._checked(value)

    @property
    def is_periodic(self) -> bool:
        """Whether the period repeats, rather than being a list of counts."""
        return isinstance(self.value, (int, float))

    def is_after(self, count: int) -> bool:
        """Whether an action with this period is due at a count."""
        return count % self.value == 0 if self.is_periodic else count in self.value

    def next_after(self, count: int) -> float:
        """The next count at which an action with this period is due; infinity if none."""
        if self.is_periodic:
            return (count // self.value + 1) * self.value
        return min((each for each in self.value if each > count), default=math.inf)

    def _checked(self, value: object) -> Any:
        name = type(self).__name__
        if isinstance(value, (list, tuple, set, frozenset, range)):
            return frozenset(TrainUnit._checked(self, each) for each in value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"pytorch.{name}() takes a whole number of at least 1, not {value!r}")
        if value < 1:
            raise ValueError(
                f"pytorch.{name}({value}) is not a period: give at least 1, or None for never"
            )
        return value

    def __repr__(self) -> str:
        shown = self.value if self.is_periodic else sorted(self.value)
        return f"{type(self).__name__}({shown})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TrainUnit) and type(self) is type(other) and self.value == other.value
        )

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.value))


class Batch(TrainUnit):
    """A number of batches, counted in one process: each of several processes trains on its own batches."""


class Epoch(TrainUnit):
    """A number of passes over the training data. The loader must have a length."""


class Second(TrainUnit):
    """Seconds of training by the clock of the first process; fractions are allowed. The batch at which the time is
    over depends on the machine's speed, so it differs between runs. The time starts again when a trial is
    restarted.
    """

    def _checked(self, value: object) -> int | float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"pytorch.Second() takes a number of seconds, not {value!r}")
        if not (value > 0 and math.isfinite(value)):
            raise ValueError(
                f"pytorch.Second({value}) is not a period: give more than 0, or None for never"
            )
        return value


def checked(unit: object, argument: str) -> TrainUnit | None:
    """Checks a unit that was passed to ``Trainer.fit``; None stays None."""
    if unit is None or isinstance(unit, TrainUnit):
        return unit
    raise TypeError(
        f"Trainer.fit({argument}={unit!r}) takes pytorch.Batch(n), pytorch.Epoch(n) or "
        "pytorch.Second(n)"
    )


def length_of(config: Mapping[str, Any]) -> TrainUnit | None:
    """The length of a trial in the configuration: ``searcher.max_length``, or ``searcher.max_time`` if
    ``time_metric`` counts batches (the default) or epochs; None if neither is set.
    """
    searcher = config.get("searcher")
    if not isinstance(searcher, Mapping):
        return None
    length = searcher.get("max_length")
    if isinstance(length, Mapping) and len(length) == 1:
        ((name, value),) = length.items()
        unit = {"batches": Batch, "epochs": Epoch}.get(str(name))
        return None if unit is None else unit(value)
    if length is None:
        length = searcher.get("max_time")
        if (searcher.get("time_metric") or "batches") == "epochs" and length is not None:
            return Epoch(length)
        if (searcher.get("time_metric") or "batches") != "batches":
            return None
    if isinstance(length, float) and length.is_integer():
        length = int(length)
    return None if length is None else Batch(length)
