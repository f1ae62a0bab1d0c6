"""Makes all processes act at the same batch on events that only one process sees: stop requests, and periods in
seconds.

A single process checks after every batch, which is cheap. Several processes exchange their events at agreed
batches: at each exchange the first process sets the number of batches until the next one, so that exchanges are
about EXCHANGE_S apart at any batch speed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Any, Callable, NamedTuple

from .._preempt import PreemptContext
from ._context import PyTorchTrialContext
from ._units import Epoch, Second

# A stop should be seen within a second; an exchange takes well under a millisecond on one host.
EXCHANGE_S = 0.3
# The largest distance of exchanges: a batch may become slower at any time, for example by a validation.
EXCHANGE_BATCHES_MAX = 1_000


class Signals(NamedTuple):
    """The actions that are due after a batch for reasons other than its number."""

    preempted: bool
    stop_requested: bool
    due: list[str]
    """The names of the actions whose period in seconds is over."""


NO_SIGNALS = Signals(False, False, [])


class Coordinator:
    """Returns the signals after each batch, the same in all processes."""

    def __init__(
        self,
        context: PyTorchTrialContext,
        preempt: PreemptContext,
        timed: dict[str, Second],
        since: dict[str, float],
        clock: Callable[[], float] | None = None,
    ) -> None:
        """``since`` has the start times of some periods; the others start now."""
        self._context = context
        self._distributed = context.distributed
        self._preempt = preempt
        self._alone = context.distributed.size == 1
        self._timed = timed
        self._clock = clock or time.monotonic
        self._since = {name: since.get(name, self._clock()) for name in timed}
        self._next_at = 0
        self._latest = self._clock()
        self._latest_batch = 0

    def after(self, batches: int) -> Signals:
        """The signals after a number of batches."""
        if self._alone:
            stop = self._context.get_stop_requested()
            due = self._due_by_clock() if self._timed else []
            preempted = self._preempt.should_preempt()
            return Signals(preempted, stop, due) if preempted or stop or due else NO_SIGNALS
        if batches < self._next_at:
            return NO_SIGNALS
        return self._exchange(batches)

    def done(self, name: str) -> None:
        """Restarts the period of an action that was done."""
        if name in self._since:
            self._since[name] = self._clock()

    def _exchange(self, batches: int) -> Signals:
        preempted = self._preempt.should_preempt()
        own = (self._context.get_stop_requested(), self._due_by_clock(), self._away(batches))
        everyone = self._distributed.allgather(own)
        _, due, away = everyone[0]
        self._next_at = batches + away
        return Signals(preempted, any(stop for stop, _, _ in everyone), due)

    def _away(self, batches: int) -> int:
        now = self._clock()
        done, took = batches - self._latest_batch, now - self._latest
        self._latest, self._latest_batch = now, batches
        if done <= 0 or took <= 0:
            return 1
        return max(1, min(EXCHANGE_BATCHES_MAX, int(EXCHANGE_S * done / took)))

    def _due_by_clock(self) -> list[str]:
        now = self._clock()
        return [name for name, unit in self._timed.items() if now - self._since[name] >= unit.value]


def timed_of(**units: object) -> dict[str, Second]:
    """The units that are periods in seconds."""
    return {name: unit for name, unit in units.items() if isinstance(unit, Second)}


def is_due(unit: Any, batches: int, epochs: int, epoch_ended: bool, timed: bool) -> bool:
    """Whether an action with this period is due after the given batches and epochs."""
    if unit is None:
        return False
    if isinstance(unit, Second):
        return timed
    if isinstance(unit, Epoch):
        return epoch_ended and unit.is_after(epochs)
    return unit.is_after(batches)


def next_due(units: Iterable[Any], batches: int, epoch_length: int | None) -> float:
    """The number of batches at which the next of these periods is over; periods in seconds are ignored."""
    following = [math.inf]
    for unit in units:
        if unit is not None and not isinstance(unit, Second):
            of_unit = (epoch_length or 1) if isinstance(unit, Epoch) else 1
            following.append(unit.next_after(batches // of_unit) * of_unit)
    return min(following)
