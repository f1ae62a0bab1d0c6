"""The operations of a search method. A trial is named by its request id: a string or UUID that the method
chooses when it creates the trial, and that nobody outside the method sees.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Union

RequestId = Hashable


@dataclass(frozen=True)
class Create:
    """A new trial. ``hparams`` has a value within its range for each hyperparameter of the
    experiment; constants may be left out.

    With a ``target`` it trains until that time (the search's time metric, else the step), is then
    suspended, and waits for what the method says next; without one it trains to its end.
    ``start_from`` is the request id of the trial whose latest checkpoint it starts from.
    """

    request_id: RequestId
    hparams: Mapping[str, Any]
    start_from: RequestId | None = None
    target: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.hparams, Mapping):
            raise TypeError("hparams must be a mapping of names to values")
        _check_target(self.target)


@dataclass(frozen=True)
class ValidateAfter:
    """The trial trains until ``length``, in all: the name that Determined's methods know. The same as
    Resume with a target, and beside the trial's Create the same as Create with one.
    """

    request_id: RequestId
    length: float

    def __post_init__(self) -> None:
        _check_target(self.length)


@dataclass(frozen=True)
class Resume:
    """A suspended trial continues, until the target or to its end. A trial that runs gets the new
    target.
    """

    request_id: RequestId
    target: float | None = None

    def __post_init__(self) -> None:
        _check_target(self.target)


@dataclass(frozen=True)
class Suspend:
    """The trial gives its slots back and keeps its checkpoint."""

    request_id: RequestId
    reason: str = ""


@dataclass(frozen=True)
class Close:
    """The trial ends as completed: once it has reached its target, else now."""

    request_id: RequestId
    reason: str = ""


@dataclass(frozen=True)
class Shutdown:
    """The search is over: no more trials. Those that run are stopped, unless ``let_trials_end``.

    With ``failure`` the experiment ends in ERROR with the reason, with ``cancel`` it is canceled.
    """

    cancel: bool = False
    failure: bool = False
    reason: str = ""
    let_trials_end: bool = False


@dataclass(frozen=True)
class Progress:
    """How much of the search is done, 0 to 1."""

    progress: float

    def __post_init__(self) -> None:
        if not 0 <= self.progress <= 1:
            raise ValueError(f"progress must be from 0 to 1, not {self.progress!r}")


Operation = Union[Create, ValidateAfter, Resume, Suspend, Close, Shutdown, Progress]


def _check_target(target: float | None) -> None:
    if target is None:
        return
    if isinstance(target, bool) or not isinstance(target, (int, float)):
        # Determined once took lengths with a unit here.
        raise TypeError(
            f"a target must be a number in the search's time metric, not {type(target).__name__}"
        )
    if not 0 < target < float("inf"):
        raise ValueError(f"a target must be a number above 0, not {target!r}")
