"""The operations of a search method. A request id identifies a trial: a string or UUID that the method chooses
when it creates the trial. Only the method uses it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Union

RequestId = Hashable


@dataclass(frozen=True)
class Create:
    """Creates a trial. ``hparams`` has a value in the range of each hyperparameter of the experiment; constants
    may be omitted. With a ``target`` the trial trains until that time (the search's time metric, by default the
    step) and is then suspended until the method's next operation. Without a target it trains to its end. The trial
    starts from the latest checkpoint of the trial with the request id ``start_from``.
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
    """Makes the trial train until ``length``, counted from its start; the name is Determined's. Equal to Resume
    with a target, or, in one answer with the trial's Create, to a Create with this target.
    """

    request_id: RequestId
    length: float

    def __post_init__(self) -> None:
        _check_target(self.length)


@dataclass(frozen=True)
class Resume:
    """Continues a suspended trial, until the target or to its end. A running trial gets the new target."""

    request_id: RequestId
    target: float | None = None

    def __post_init__(self) -> None:
        _check_target(self.target)


@dataclass(frozen=True)
class Suspend:
    """Suspends the trial: it releases its slots and keeps its checkpoint."""

    request_id: RequestId
    reason: str = ""


@dataclass(frozen=True)
class Close:
    """Ends the trial as completed: when it has reached its target, or now if it has none."""

    request_id: RequestId
    reason: str = ""


@dataclass(frozen=True)
class Shutdown:
    """Ends the search: no further trials are created. Running trials are stopped, unless ``let_trials_end``. With
    ``failure`` the experiment ends in ERROR with this reason, with ``cancel`` it is canceled.
    """

    cancel: bool = False
    failure: bool = False
    reason: str = ""
    let_trials_end: bool = False


@dataclass(frozen=True)
class Progress:
    """Reports the completed fraction of the search, 0 to 1."""

    progress: float

    def __post_init__(self) -> None:
        if not 0 <= self.progress <= 1:
            raise ValueError(f"progress must be from 0 to 1, not {self.progress!r}")


Operation = Union[Create, ValidateAfter, Resume, Suspend, Close, Shutdown, Progress]


def _check_target(target: float | None) -> None:
    if target is None:
        return
    if isinstance(target, bool) or not isinstance(target, (int, float)):
        # Older scripts for Determined pass a length with a unit.
        raise TypeError(
            f"a target must be a number in the search's time metric, not {type(target).__name__}"
        )
    if not 0 < target < float("inf"):
        raise ValueError(f"a target must be a number above 0, not {target!r}")
