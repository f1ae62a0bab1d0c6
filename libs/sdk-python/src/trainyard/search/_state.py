"""The state of the search after its events, as its method sees it, and the method call for each event."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ._exits import ExitedReason
from ._operations import RequestId

_CLOSED = ("TRIAL_OUTCOME_COMPLETED", "TRIAL_OUTCOME_STOPPED_EARLY")
_EXITED = {
    "TRIAL_OUTCOME_FAILED": ExitedReason.ERRORED,
    "TRIAL_OUTCOME_CANCELED": ExitedReason.USER_CANCELED,
    "TRIAL_OUTCOME_INVALID_HYPERPARAMETERS": ExitedReason.INVALID_HP,
}


class SearchEvent(NamedTuple):
    """An event of the search's stream: its version, its name and its data."""

    version: int
    name: str
    data: Mapping[str, Any]


def operation_of(data: Mapping[str, Any]) -> str:
    """The id of the operation that created the trial of a TrialProposed event; empty for none."""
    return str((data.get("evidence") or {}).get("operation", ""))


@dataclass
class TrialInfo:
    """The state of one trial after the events so far."""

    request_id: RequestId
    number: int
    hparams: Mapping[str, Any]
    target: float | None = None
    suspended: bool = False
    ended: bool = False
    # The time and the metric's value of each validation.
    validations: list[tuple[float, float]] = field(default_factory=list)

    @property
    def time(self) -> float:
        """The time of the trial's last validation; 0 for none."""
        return self.validations[-1][0] if self.validations else 0.0


class Call(NamedTuple):
    """A method call: its name and its arguments after the state."""

    method: str
    arguments: tuple[Any, ...]


class SearcherState:
    """The state of the search at the event of the method call. Methods must only read it."""

    def __init__(self) -> None:
        self.experiment_id = ""
        # The version of the event in the search's stream.
        self.last_event_id = 0
        self.metric = ""
        self.smaller_is_better = True
        self.time_metric = ""
        # The hyperparameters of the experiment's configuration, normalised.
        self.space: Mapping[str, Any] = {}
        self.seed = 0
        # A random generator with the same numbers when the history is replayed.
        self.random = random.Random(0)
        self.trials: dict[RequestId, TrialInfo] = {}
        self.trials_created: set[RequestId] = set()
        self.trials_closed: set[RequestId] = set()
        self.failures: set[RequestId] = set()
        self.trial_progress: dict[RequestId, float] = {}
        # Whether the search is finishing, so that it creates no further trials.
        self.finishing = False
        self.experiment_completed = False
        self.experiment_failed = False
        self._by_number: dict[int, TrialInfo] = {}
        # The targets of trials that are requested but not yet created, by the operation's id.
        self._targets: dict[str, float | None] = {}
        self._ids_drawn = 0

    def new_request_id(self) -> str:
        """Returns an unused request id, the same when the history is replayed."""
        self._ids_drawn += 1
        return f"trial-{self.last_event_id}-{self._ids_drawn}"

    def trial_of(self, number: int) -> TrialInfo | None:
        """The trial with a number, after the events so far."""
        return self._by_number.get(number)

    def apply(self, event: SearchEvent, request_id: RequestId | None) -> list[Call]:
        """Applies an event, and returns the method calls that it causes. ``request_id`` is that of a TrialProposed
        event's trial; None if the runner did not request the trial.
        """
        self.last_event_id = event.version
        handler = getattr(self, f"_{event.name}", None)
        if handler is None:
            return []
        if event.name == "TrialProposed":
            return self._TrialProposed(event.data, request_id)
        calls: list[Call] = handler(event.data)
        return calls

    def _SearchStarted(self, data: Mapping[str, Any]) -> list[Call]:
        self.metric = str(data.get("metric", ""))
        self.smaller_is_better = bool(data.get("smallerIsBetter", False))
        self.time_metric = str(data.get("timeMetric", ""))
        self.space = data.get("space") or {}
        self.seed = int(data.get("seed", 0))
        self.random = random.Random(self.seed)
        return [Call("initial_operations", ())]

    def _TrialProposed(self, data: Mapping[str, Any], request_id: RequestId | None) -> list[Call]:
        number = int(data["number"])
        name: RequestId = f"trial-{number}" if request_id is None else request_id
        target = self._targets.pop(operation_of(data), None)
        trial = TrialInfo(name, number, data.get("hyperparameters") or {}, target)
        self.trials[name] = trial
        self._by_number[number] = trial
        self.trials_created.add(name)
        self.trial_progress[name] = 0.0
        return [Call("on_trial_created", (name,))]

    def _OperationsPosted(self, data: Mapping[str, Any]) -> list[Call]:
        calls: list[Call] = []
        for operation in data.get("operations") or []:
            if "propose" in operation:
                self._targets[str(operation["id"])] = operation["propose"].get("target")
            elif "resume" in operation:
                calls += self._retarget(operation["resume"])
        return calls

    def _retarget(self, resume: Mapping[str, Any]) -> list[Call]:
        """Sets a new target. If the trial has passed it already, the first validation at or after the target
        counts: how far a trial trains before it is suspended is random.
        """
        trial = self._by_number[int(resume["trial"])]
        trial.target = target = resume.get("target")
        if target is None:
            return []
        reached = (one for one in trial.validations if one[0] >= target)
        return [
            Call("on_validation_completed", (trial.request_id, value, time))
            for time, value in itertools.islice(reached, 1)
        ]

    def _ObservationRecorded(self, data: Mapping[str, Any]) -> list[Call]:
        trial = self._by_number[int(data["trial"])]
        values = data.get("values") or {}
        if data.get("repeat") or data.get("missing") or trial.ended or self.metric not in values:
            return []
        # NaN and the infinities are strings in JSON.
        time, value = float(data.get("time", 0.0)), float(values[self.metric])
        before = trial.time
        trial.validations.append((time, value))
        self.trial_progress[trial.request_id] = time
        arguments = (trial.request_id, value, time)
        calls = [Call("on_validation_reported", arguments)]
        if trial.target is None or before < trial.target <= time:
            calls.append(Call("on_validation_completed", arguments))
        return calls

    def _TrialSuspended(self, data: Mapping[str, Any]) -> list[Call]:
        # A trial that waits for a slot continues by itself.
        self._by_number[int(data["trial"])].suspended = data.get("rule") != "no_place"
        return []

    def _TrialResumed(self, data: Mapping[str, Any]) -> list[Call]:
        self._by_number[int(data["trial"])].suspended = False
        return []

    def _TrialOutcomeRecorded(self, data: Mapping[str, Any]) -> list[Call]:
        trial = self._by_number[int(data["trial"])]
        trial.ended, trial.suspended = True, False
        outcome = str(data.get("outcome", ""))
        if outcome in _CLOSED:
            self.trials_closed.add(trial.request_id)
            return [Call("on_trial_closed", (trial.request_id,))]
        self.failures.add(trial.request_id)
        reason = _EXITED.get(outcome, ExitedReason.ERRORED)
        return [Call("on_trial_exited_early", (trial.request_id, reason))]

    def _SearchStopDecided(self, data: Mapping[str, Any]) -> list[Call]:
        self.finishing = True
        return []

    def _SearchCompleted(self, data: Mapping[str, Any]) -> list[Call]:
        self.finishing = True
        self.experiment_completed = True
        self.experiment_failed = data.get("reason") == "SEARCH_COMPLETION_FAILED"
        return []
