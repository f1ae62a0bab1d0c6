"""The interface of a user's reducer."""

from __future__ import annotations

import abc
import enum
import itertools
from collections.abc import Sequence
from typing import Any, Callable


class Reducer(enum.Enum):
    """The way in which the values of a validation metric are combined."""

    AVG = 1
    """The mean over samples: each batch is weighted by its number of samples."""
    SUM = 2
    MAX = 3
    MIN = 4


class MetricReducer(abc.ABC):
    """A metric that is not a mean over batches, such as one of a whole confusion matrix.

    The trial passes values to the reducer in ``train_batch`` or ``evaluate_batch``, by methods of any name. At the
    end ``per_slot_reduce`` returns each slot's contribution, and ``cross_slot_reduce`` computes the metric from
    all contributions. ``wrap_reducer`` of the context registers the reducer.

    Checkpoints contain the reducer's state: its attributes except functions, or the result of ``state_dict`` if
    the reducer has ``state_dict`` and ``load_state_dict``. A reducer that keeps an object such as a torchmetrics
    metric or the trial needs both methods.
    """

    @abc.abstractmethod
    def reset(self) -> None:
        """Discards the collected values. Called before each stretch of training and each validation."""

    @abc.abstractmethod
    def per_slot_reduce(self) -> Any:
        """Returns the contribution of this slot; it must be picklable."""

    @abc.abstractmethod
    def cross_slot_reduce(self, per_slot_metrics: list[Any]) -> Any:
        """Computes the metric from the results of ``per_slot_reduce`` of all slots, in the order of ranks. Returns
        a value if ``wrap_reducer`` has a name, otherwise a dict of values by name. Called on every slot.
        """


class FunctionReducer(MetricReducer):
    """A reducer that applies a function to all values of all slots."""

    def __init__(self, function: Callable[[list[Any]], Any]) -> None:
        self.function = function
        self._values: list[Any] = []

    def reset(self) -> None:
        self._values = []

    def update(self, value: Any) -> None:
        """Adds one value."""
        self._values.append(value)

    def per_slot_reduce(self) -> list[Any]:
        return self._values

    def cross_slot_reduce(self, per_slot_metrics: Sequence[list[Any]]) -> Any:
        """Calls the function with all values, in the order of a single process if one value was added per batch:
        batches are divided among the slots in turn.
        """
        missing = object()
        rounds = itertools.zip_longest(*per_slot_metrics, fillvalue=missing)
        return self.function([value for turn in rounds for value in turn if value is not missing])
