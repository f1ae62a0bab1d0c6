"""The class that a search is written as."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ._exits import ExitedReason
from ._operations import Operation, RequestId

if TYPE_CHECKING:
    from ._state import SearcherState


class SearchMethod:
    """Each event of the search calls one of these methods, and the returned operations are done.

    The calls come one after the other, in the order of the search's events, and again in the same
    order, from the first, whenever a runner starts on the search again. So what a method remembers
    needs no saving, and it must decide from its events alone: not from the time, not from
    ``random``, not from the order of a set. For chance there is ``state.random``.
    """

    def initial_operations(self, state: SearcherState) -> Iterable[Operation]:
        """When the search starts."""
        raise NotImplementedError

    def on_trial_created(self, state: SearcherState, request_id: RequestId) -> Iterable[Operation]:
        """When a trial that was asked for exists."""
        return []

    def on_validation_completed(
        self, state: SearcherState, request_id: RequestId, metric: float, train_length: float
    ) -> Iterable[Operation]:
        """When a trial has reached its target, and with every validation of a trial that has none.
        The metric may be not-a-number or infinite.
        """
        return []

    def on_validation_reported(
        self, state: SearcherState, request_id: RequestId, metric: float, train_length: float
    ) -> Iterable[Operation]:
        """With every validation, also on the way to a target. Determined has no such call."""
        return []

    def on_trial_closed(self, state: SearcherState, request_id: RequestId) -> Iterable[Operation]:
        """When a trial has ended as completed, by itself or because it was closed."""
        return []

    def on_trial_exited_early(
        self, state: SearcherState, request_id: RequestId, exited_reason: ExitedReason
    ) -> Iterable[Operation]:
        """When a trial has failed, was canceled, or cannot work with its hyperparameters."""
        return []

    def progress(self, state: SearcherState) -> float | None:
        """How much of the search is done, 0 to 1; None to leave that to the platform."""
        return None
