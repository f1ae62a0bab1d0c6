"""Runs a search method against an experiment of the platform.

The runner follows the search's events, calls the method with each, and posts the method's operations with ids that
are derived from the event. A runner that was killed at any point and restarted replays the history from the first
event. Operations that are recorded are compared with the method's and not posted again.
"""

from __future__ import annotations

import base64
import json
import os
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .. import _log as log
from .._code import Config, config_text, packed
from ._api import SearchApi
from ._errors import NotDeterministicError, OperationRefusedError, SearchError
from ._limits import PROGRESS_STEP
from ._method import SearchMethod
from ._operations import Operation, Progress, Shutdown
from ._state import Call, SearcherState, SearchEvent, operation_of
from ._wire import Numbers, Wire, translate

# The refusals of operations whose trial or search has ended: they are ignored.
_TOO_LATE = {
    "trial_ended": ("stop", "suspend", "resume"),
    "search_finished": ("propose", "finish"),
    "search_completed": ("propose", "stop", "suspend", "resume", "finish", "progress"),
}


class SearchResult(NamedTuple):
    """The outcome of a search."""

    experiment: str
    # The reason of the end: exhausted, canceled or failed.
    reason: str
    # The number of the best trial and its value; both None without one.
    best_trial: int | None
    best_value: float | None


class SearchRunner:
    """Runs one method. ``url`` and ``token`` select the cluster; their defaults are TRAINYARD_URL and
    TRAINYARD_TOKEN in the environment.
    """

    def __init__(
        self, method: SearchMethod, url: str | None = None, token: str | None = None
    ) -> None:
        self._method = method
        self._url = url or os.environ.get("TRAINYARD_URL", "")
        self._token = token or os.environ.get("TRAINYARD_TOKEN", "")
        if not self._url or not self._token:
            raise ValueError("give url and token, or set TRAINYARD_URL and TRAINYARD_TOKEN")

    def run(
        self,
        config: Config,
        model_dir: str | Path,
        key: str | None = None,
    ) -> SearchResult:
        """Submits the experiment and runs its search to the end.

        ``config`` is the path of a YAML file, the configuration as a mapping, or YAML itself, as for
        ``trainyard.client.create_experiment``. A second call with the same ``key``, even in another process,
        continues with the experiment created first.
        """
        text = config_text(config)
        context = base64.b64encode(packed(model_dir).content).decode("ascii")
        api = SearchApi(self._url, self._token)
        try:
            answer = api.create_experiment(
                {"config": text, "context": context}, key or str(uuid.uuid4())
            )
        finally:
            api.close()
        for warning in answer.get("warnings") or []:
            log.warning("%s", warning)
        experiment = str(answer["experiment"]["id"])
        log.info("experiment %s", experiment)
        return self.attach(experiment)

    def attach(self, experiment: str | int) -> SearchResult:
        """Runs the search of an existing experiment from its current state to its end."""
        api = SearchApi(self._url, self._token)
        try:
            shown = api.get_experiment(str(experiment))
            if shown.get("searcher") != "custom":
                raise SearchError(
                    f"experiment {experiment} is searched by {shown.get('searcher')}; "
                    "set searcher: {name: custom} in its configuration"
                )
            return _Session(api, self._method, str(experiment)).run()
        finally:
            api.close()


class _Session:
    """One run of a runner, from its start to its end."""

    def __init__(self, api: SearchApi, method: SearchMethod, experiment: str) -> None:
        self._api = api
        self._method = method
        self._experiment = experiment
        self._state = SearcherState()
        self._state.experiment_id = experiment
        self._numbers = Numbers()
        self._reported_progress = 0.0
        # The operations that the log has recorded, by id; their ids by the version of the event that they answer;
        # and the last answered event.
        self._recorded: dict[str, Wire] = {}
        self._answers: dict[int, list[str]] = {}
        self._made: dict[str, int] = {}
        self._answered = 0
        self._completion: Mapping[str, Any] = {}
        # The history has an end: later operations of the method are too late.
        self._over = False

    def run(self) -> SearchResult:
        past = list(self._api.past_events(self._experiment))
        for event in past:
            self._remember(event)
        for event in past:
            self._take(event)
        if not self._over:
            for event in self._api.events_after(self._experiment, self._state.last_event_id):
                self._take(event)
        best = self._completion.get("bestValue")
        return SearchResult(
            self._experiment,
            str(self._completion.get("reason", "")).replace("SEARCH_COMPLETION_", "").lower(),
            self._completion.get("bestTrial"),
            None if best is None else float(best),
        )

    def _remember(self, event: SearchEvent) -> None:
        if event.name == "OperationsPosted":
            for operation in event.data.get("operations") or []:
                name = str(operation["id"])
                self._recorded[name] = operation
                version = _answered_by(name)
                self._answers.setdefault(version, []).append(name)
                self._answered = max(self._answered, version)
        elif event.name == "TrialProposed":
            self._made[operation_of(event.data)] = int(event.data["number"])
        elif event.name == "SearchCompleted":
            self._over = True

    def _take(self, event: SearchEvent) -> None:
        request_id = None
        if event.name == "TrialProposed":
            operation, number = operation_of(event.data), int(event.data["number"])
            request_id = self._numbers.asked_by(operation)
            if request_id is None:
                self._numbers.record_trial(f"trial-{number}", number)
            else:
                self._numbers.record_created(operation, number)
        elif event.name == "SearchCompleted":
            self._completion = event.data
        calls = self._state.apply(event, request_id)
        if self._completion:
            return
        self._answer(event.version, [one for call in calls for one in self._call(call)])

    def _call(self, call: Call) -> list[Operation]:
        operations = getattr(self._method, call.method)(self._state, *call.arguments)
        return list(operations or [])

    def _answer(self, version: int, operations: list[Operation]) -> None:
        operations = operations + self._progress(operations)
        names = set()
        for batch in translate(operations, version, self._state, self._numbers):
            names.update(str(operation["id"]) for operation in batch)
            self._post(batch, version)
        for name in self._answers.pop(version, []):
            if name not in names:
                raise _not_the_same(name, self._recorded[name], None)
        if not self._over and any(isinstance(one, Shutdown) and one.cancel for one in operations):
            self._api.cancel_experiment(self._experiment)

    def _progress(self, operations: list[Operation]) -> list[Operation]:
        progress = self._method.progress(self._state)
        if progress is None or any(isinstance(one, Progress) for one in operations):
            return []
        if not operations and abs(progress - self._reported_progress) < PROGRESS_STEP:
            return []
        self._reported_progress = progress
        return [Progress(progress)]

    def _post(self, batch: list[Wire], version: int) -> None:
        new: list[Wire] = []
        for operation in batch:
            name = str(operation["id"])
            before = self._recorded.get(name)
            if before is None:
                new.append(operation)
            elif before != operation:
                raise _not_the_same(name, before, operation)
            elif name in self._made:
                self._numbers.record_created(name, self._made[name])
        # If later events have been answered, the missing operations of an earlier answer were refused as too late.
        if new and version >= self._answered and not self._over:
            self._post_new(new)

    def _post_new(self, operations: list[Wire]) -> None:
        while operations:
            try:
                results = self._api.post_operations(self._experiment, operations)
            except OperationRefusedError as error:
                operations = _without_the_late(operations, error)
                continue
            for result in results:
                self._numbers.record_created(str(result["id"]), int(result["trial"]))
            return


def _answered_by(name: str) -> int:
    """The version of the event that an operation answers; 0 for an operation that is not the runner's."""
    version, _, index = name.partition("-")
    return int(version) if version.isdigit() and index.isdigit() else 0


def _without_the_late(operations: list[Wire], error: OperationRefusedError) -> list[Wire]:
    """Returns the operations to post after a refusal, without those that were too late. Raises other refusals."""
    kinds = _TOO_LATE.get(error.code)
    if kinds is None:
        raise error
    late = [
        operation
        for index, operation in enumerate(operations)
        if any(kind in operation for kind in kinds)
        and (error.code == "search_completed" or error.names(f"operations[{index}]"))
    ]
    if not late:
        raise error
    log.info("came too late: %s", error)
    return [operation for operation in operations if operation not in late]


def _not_the_same(name: str, before: Wire, now: Wire | None) -> NotDeterministicError:
    return NotDeterministicError(
        f"operation {name} was {json.dumps(before)}; after the same events the method now returns "
        f"{'nothing' if now is None else json.dumps(now)}"
    )
