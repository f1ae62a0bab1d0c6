"""The class that a user's search derives from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ._exits import ExitedReason
from ._operations import Operation, RequestId

if TYPE_CHECKING:
    from ._state import SearcherState


class SearchMethod:
    """Each event of the search calls one of these methods, and the returned operations are executed. The calls
    have the order of the search's events. A restarted runner repeats all calls in this order, from the first.
    Therefore a method need not save its state, but it must decide from its events alone: not from the time,
    ``random`` or the order of a set. ``state.random`` is its source of randomness.
    """

    def initial_operations(self, state: SearcherState) -> Iterable[Operation]:
        """Called when the search starts."""
        raise NotImplementedError

    def on_trial_created(self, state: SearcherState, request_id: RequestId) -> Iterable[Operation]:
        """Called when a requested trial was created."""
        return []

    def on_validation_completed(
        self, state: SearcherState, request_id: RequestId, metric: float, train_length: float
    ) -> Iterable[Operation]:
        """Called when a trial has reached its target, and at every validation of a trial without a target. The
        metric may be NaN or infinite.
        """
        return []

    def on_validation_reported(
        self, state: SearcherState, request_id: RequestId, metric: float, train_length: float
    ) -> Iterable[Operation]:
        """Called at every validation, also before a target is reached. Determined has no such call."""
        return []

    def on_trial_closed(self, state: SearcherState, request_id: RequestId) -> Iterable[Operation]:
        """Called when a trial has ended as completed, by itself or by a Close operation."""
        return []

    def on_trial_exited_early(
        self, state: SearcherState, request_id: RequestId, exited_reason: ExitedReason
    ) -> Iterable[Operation]:
        """Called when a trial has failed, was canceled, or has invalid hyperparameters."""
        return []

    def progress(self, state: SearcherState) -> float | None:
        """Returns the completed fraction of the search, 0 to 1, or None to let the platform compute it."""
        return None
