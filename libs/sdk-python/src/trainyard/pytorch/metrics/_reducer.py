"""The interface of a user's reducer."""

from __future__ import annotations

import abc
import enum
import itertools
from collections.abc import Sequence
from typing import Any, Callable


class Reducer(enum.Enum):
    """How the values of a metric of a validation become one."""

    AVG = 1
    """The mean over samples: each batch counts by its number of samples."""
    SUM = 2
    MAX = 3
    MIN = 4


class MetricReducer(abc.ABC):
    """A metric that is more than a mean of batches, such as one of a whole confusion matrix.

    The trial feeds it in ``train_batch`` or ``evaluate_batch`` by methods of its own naming. At the
    end ``per_slot_reduce`` makes on each slot what is sent, and ``cross_slot_reduce`` makes the
    metric of all of these. ``wrap_reducer`` of the context makes it known.

    What was fed is stored with checkpoints: the attributes that are no functions, or what ``state_dict``
    returns where a reducer has that and ``load_state_dict``, as one needs that keeps an object such as a
    metric of torchmetrics, or the trial.
    """

    @abc.abstractmethod
    def reset(self) -> None:
        """Forgets what was fed. Called before each stretch of training and each validation."""

    @abc.abstractmethod
    def per_slot_reduce(self) -> Any:
        """The contribution of this slot; anything that can be pickled."""

    @abc.abstractmethod
    def cross_slot_reduce(self, per_slot_metrics: list[Any]) -> Any:
        """The metric, of what ``per_slot_reduce`` returned on each slot, in the order of ranks.

        A value where ``wrap_reducer`` was given a name, else a dict of values by name. Called on
        every slot.
        """


class FunctionReducer(MetricReducer):
    """A reducer that is a function of everything it was fed on all slots."""

    def __init__(self, function: Callable[[list[Any]], Any]) -> None:
        self.function = function
        self._values: list[Any] = []

    def reset(self) -> None:
        self._values = []

    def update(self, value: Any) -> None:
        """Feeds one value."""
        self._values.append(value)

    def per_slot_reduce(self) -> list[Any]:
        return self._values

    def cross_slot_reduce(self, per_slot_metrics: Sequence[list[Any]]) -> Any:
        """Calls the function with the values in the order in which one process would have met them,
        if it was fed once a batch: batches are dealt out to the slots in turn.
        """
        missing = object()
        rounds = itertools.zip_longest(*per_slot_metrics, fillvalue=missing)
        return self.function([value for turn in rounds for value in turn if value is not missing])
