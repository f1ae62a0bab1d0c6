"""Acts of all processes at the same batch although only one knows of them: stopping, and what goes
by the clock.

Alone, a process looks after every batch; that costs nothing. Several processes exchange what they
know at batches that they agree on: at each exchange the first one says how many batches the next is
away, so that exchanges come about EXCHANGE_S apart however fast the batches are.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Any, Callable, NamedTuple

from .._preempt import PreemptContext
from ._context import PyTorchTrialContext
from ._units import Epoch, Second

# A stop is to be seen within a second; an exchange takes well under a millisecond on a host.
EXCHANGE_S = 0.3
# A batch may become slower at any time, for example by a validation.
EXCHANGE_BATCHES_MAX = 1_000


class Signals(NamedTuple):
    """An act after a batch that the batch itself does not ask for."""

    preempted: bool
    stop_requested: bool
    due: list[str]
    """The names of what is due by the clock."""


NO_SIGNALS = Signals(False, False, [])


class Coordinator:
    """Says after each batch what is new; the same in all processes."""

    def __init__(
        self,
        context: PyTorchTrialContext,
        preempt: PreemptContext,
        timed: dict[str, Second],
        since: dict[str, float],
        clock: Callable[[], float] | None = None,
    ) -> None:
        """``since`` says of some of the timed when their time began; that of the others does now."""
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
        """The news after a number of batches."""
        if self._alone:
            stop = self._context.get_stop_requested()
            due = self._due_by_clock() if self._timed else []
            preempted = self._preempt.should_preempt()
            return Signals(preempted, stop, due) if preempted or stop or due else NO_SIGNALS
        if batches < self._next_at:
            return NO_SIGNALS
        return self._exchange(batches)

    def done(self, name: str) -> None:
        """Begins the time of something again, because it was done."""
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
    """Those that go by the clock."""
    return {name: unit for name, unit in units.items() if isinstance(unit, Second)}


def is_due(unit: Any, batches: int, epochs: int, epoch_ended: bool, timed: bool) -> bool:
    """Whether something with this period is due after so many batches and epochs."""
    if unit is None:
        return False
    if isinstance(unit, Second):
        return timed
    if isinstance(unit, Epoch):
        return epoch_ended and unit.is_after(epochs)
    return unit.is_after(batches)


def next_due(units: Iterable[Any], batches: int, epoch_length: int | None) -> float:
    """After how many batches one of these periods is over next; those by the clock aside."""
    following = [math.inf]
    for unit in units:
        if unit is not None and not isinstance(unit, Second):
            of_unit = (epoch_length or 1) if isinstance(unit, Epoch) else 1
            following.append(unit.next_after(batches // of_unit) * of_unit)
    return min(following)
