"""Converts a method's operations to the platform's form: with operation ids, and with trial numbers instead of
request ids.

The id of an operation is the version of the event that it answers and its index in the answer. Thus the same
history results in the same ids, and the platform recognizes repeated operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Union

from ._errors import SearchError
from ._limits import OPERATIONS_MAX
from ._operations import (
    Close,
    Create,
    Operation,
    Progress,
    RequestId,
    Resume,
    Shutdown,
    Suspend,
    ValidateAfter,
)
from ._state import SearcherState

Wire = dict[str, Any]


class Numbers:
    """The trial numbers of the request ids, as far as they are known."""

    def __init__(self) -> None:
        self._numbers: dict[RequestId, int] = {}
        self._requests: dict[str, RequestId] = {}
        self._used_ids: set = set()

    def ask(self, operation: str, request_id: RequestId) -> None:
        """Records that an operation requests a trial."""
        if request_id in self._used_ids:
            raise SearchError(f"trial {request_id!r} exists already: use a new request id")
        self._used_ids.add(request_id)
        self._requests[operation] = request_id

    def asked_by(self, operation: str) -> RequestId | None:
        return self._requests.get(operation)

    def record_created(self, operation: str, number: int) -> None:
        """Records the number of the trial that an operation created."""
        request_id = self._requests.get(operation)
        if request_id is not None:
            self._numbers[request_id] = number

    def record_trial(self, request_id: RequestId, number: int) -> None:
        """Records a trial that the runner did not request."""
        self._used_ids.add(request_id)
        self._numbers[request_id] = number

    def get(self, request_id: RequestId) -> int | None:
        return self._numbers.get(request_id)

    def is_asked(self, request_id: RequestId) -> bool:
        return request_id in self._used_ids


class _NewTrial:
    def __init__(self, create: Create) -> None:
        self.create = create
        self.target = create.target
        self.stops = False


class _Goal:
    """A trial continues its training, until a target or to its end."""

    def __init__(self, request_id: RequestId, target: float | None) -> None:
        self.request_id = request_id
        self.target = target
        self.stops = False


_Step = Union[_NewTrial, _Goal, Suspend, Close, Shutdown, Progress]


def translate(
    operations: Iterable[Operation], version: int, state: SearcherState, numbers: Numbers
) -> Iterator[list[Wire]]:
    """Yields batches of operations to be posted in order. An operation on a trial that an earlier one creates is
    in a later batch, since the trial's number is known only after its creation.
    """
    batch: list[Wire] = []
    requested: set = set()
    for index, step in enumerate(_merged(operations, state)):
        names = _names(step)
        if len(batch) == OPERATIONS_MAX or any(name in requested for name in names):
            yield batch
            batch, requested = [], set()
        operation_id = f"{version}-{index}"
        if isinstance(step, _NewTrial):
            numbers.ask(operation_id, step.create.request_id)
            requested.add(step.create.request_id)
        for name in names:
            if not numbers.is_asked(name):
                raise SearchError(f"there is no trial {name!r}: create it first")
        if any(numbers.get(name) is None for name in names):
            # The trial was requested too late, and was not created.
            continue
        batch.append({"id": operation_id, **_wire(step, numbers)})
    if batch:
        yield batch


def _merged(operations: Iterable[Operation], state: SearcherState) -> list[_Step]:
    """Merges all operations of one answer on a trial's training into one step: its target, and whether the trial
    ends there.
    """
    steps: list[_Step] = []
    goals: dict[RequestId, _NewTrial | _Goal] = {}
    for operation in operations:
        if isinstance(operation, Create):
            goal: _NewTrial | _Goal = _NewTrial(operation)
            goals[operation.request_id] = goal
            steps.append(goal)
        elif isinstance(operation, (ValidateAfter, Resume)):
            target = operation.length if isinstance(operation, ValidateAfter) else operation.target
            earlier = goals.get(operation.request_id)
            if earlier is None:
                earlier = goals[operation.request_id] = _Goal(operation.request_id, target)
                steps.append(earlier)
            earlier.target = target
        elif isinstance(operation, Close):
            _close(operation, steps, goals, state)
        elif isinstance(operation, (Suspend, Progress)):
            steps.append(operation)
        elif isinstance(operation, Shutdown):
            # A cancellation is a separate call: it concerns the experiment, not the search.
            if not operation.cancel:
                steps.append(operation)
        else:
            raise TypeError(f"{operation!r} is not an operation of a search")
    return steps


def _close(
    close: Close,
    steps: list[_Step],
    goals: dict[RequestId, _NewTrial | _Goal],
    state: SearcherState,
) -> None:
    """Ends the trial at its current target, or now if it has none."""
    goal = goals.get(close.request_id)
    if goal is not None and goal.target is not None:
        goal.stops = True
        return
    trial = state.trials.get(close.request_id)
    if trial is None or trial.suspended or trial.target is None or trial.time >= trial.target:
        steps.append(close)
        return
    on_its_way = _Goal(close.request_id, trial.target)
    on_its_way.stops = True
    steps.append(on_its_way)


def _names(step: _Step) -> list[RequestId]:
    if isinstance(step, _NewTrial):
        return [] if step.create.start_from is None else [step.create.start_from]
    if isinstance(step, (_Goal, Suspend, Close)):
        return [step.request_id]
    return []


def _wire(step: _Step, numbers: Numbers) -> Wire:
    """Defaults are omitted, as in the log, because recorded operations are compared with these."""
    if isinstance(step, _NewTrial):
        create = step.create
        wire: Wire = {"hyperparameters": dict(create.hparams), **_until(step)}
        if create.start_from is not None:
            wire["startFromTrial"] = numbers.get(create.start_from)
        return {"propose": wire}
    if isinstance(step, _Goal):
        return {"resume": {"trial": numbers.get(step.request_id), **_until(step)}}
    if isinstance(step, (Suspend, Close)):
        kind = "suspend" if isinstance(step, Suspend) else "stop"
        return {kind: {"trial": numbers.get(step.request_id), **_said("reason", step.reason)}}
    if isinstance(step, Shutdown):
        return {
            "finish": {
                **_said("failed", step.failure),
                **_said("reason", step.reason),
                **_said("letTrialsEnd", step.let_trials_end),
            }
        }
    return {"progress": _said("progress", step.progress)}


def _until(goal: _NewTrial | _Goal) -> Wire:
    target: Wire = {} if goal.target is None else {"target": goal.target}
    return {**target, **_said("stopAtTarget", goal.stops)}


def _said(name: str, value: object) -> Wire:
    return {name: value} if value else {}
