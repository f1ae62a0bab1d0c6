from __future__ import annotations

import tempfile
import unittest
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from unittest import mock

from fake_search import FakeSearch, Refusal

from trainyard.search import (
    Close,
    Create,
    ExitedReason,
    NotDeterministicError,
    Operation,
    OperationRefusedError,
    Progress,
    SearchError,
    SearcherState,
    SearchMethod,
    SearchRunner,
    Shutdown,
    Suspend,
    ValidateAfter,
)
from trainyard.search._state import SearchEvent
from trainyard.search._wire import Numbers, translate


class Scripted(SearchMethod):
    """A method with two trials until time 4. The better one continues until time 8, the other is closed; then the
    search ends.
    """

    def __init__(self, chance: list[float] | None = None) -> None:
        self.calls: list[str] = []
        self.values: dict = {}
        self.chance = chance

    def initial_operations(self, state: SearcherState) -> Iterable[Operation]:
        self.calls.append("initial")
        for name in ("a", "b"):
            lr = self.chance.pop() if self.chance else state.random.random()
            yield Create(name, {"lr": lr})
            yield ValidateAfter(name, 4)

    def on_trial_created(self, state: SearcherState, request_id: Any) -> Iterable[Operation]:
        self.calls.append(f"created {request_id}")
        return []

    def on_validation_completed(
        self, state: SearcherState, request_id: Any, metric: float, train_length: float
    ) -> Iterable[Operation]:
        self.calls.append(f"validated {request_id} {metric} {train_length}")
        self.values[request_id] = metric
        if train_length >= 8:
            return [Close(request_id, "done")]
        if len(self.values) < 2:
            return []
        best, worst = sorted(self.values, key=lambda name: self.values[name])
        return [Close(worst), ValidateAfter(best, 8)]

    def on_trial_closed(self, state: SearcherState, request_id: Any) -> Iterable[Operation]:
        self.calls.append(f"closed {request_id}")
        return [] if len(state.trials_closed) < 2 else [Shutdown()]

    def progress(self, state: SearcherState) -> float | None:
        return len(state.trials_closed) / 2


def trains(search: FakeSearch) -> None:
    """Lets the trials of Scripted train after each post."""
    done = {key for one in search.operations for key in one if key != "id"}
    validated = sum(".ObservationRecorded." in event["type"] for event in search.events)
    if search.trials == 2 and validated == 0:
        search.validate(1, 2, 0.9)
        search.validate(1, 4, 0.5)
        search.validate(2, 4, 0.3)
    elif "resume" in done and validated == 3:
        search.end(1, "STOPPED_EARLY")
        search.validate(2, 8, 0.2)
    elif sum("stop" in one for one in search.operations) == 2 and 2 not in search.ended:
        search.end(2, "STOPPED_EARLY")
    elif "finish" in done:
        search.complete(bestTrial=2, bestValue=0.2)


EXPECTED = [
    "initial",
    "created a",
    "created b",
    "validated a 0.5 4.0",
    "validated b 0.3 4.0",
    "closed a",
    "validated b 0.2 8.0",
    "closed b",
]


class Running(unittest.TestCase):
    def setUp(self) -> None:
        self.search = FakeSearch(trains)
        self.addCleanup(self.search.stop)

    def run_search(self, method: SearchMethod | None = None) -> Any:
        method = method or Scripted()
        return SearchRunner(method, self.search.url, "ty_token").attach(1)

    def test_a_search_runs_until_its_end(self) -> None:
        method = Scripted()
        result = self.run_search(method)
        self.assertEqual(("1", "exhausted", 2, 0.2), tuple(result))
        self.assertEqual(EXPECTED, method.calls)
        kinds = [next(key for key in one if key != "id") for one in self.search.operations]
        wanted = (
            "propose propose progress stop resume progress progress stop progress finish progress"
        )
        self.assertEqual(sorted(wanted.split()), sorted(kinds))

    def test_a_client_killed_at_any_post_continues_with_the_same_operations(self) -> None:
        self.run_search()
        calm = self.search.operations
        for post in range(1, self.search.posts + 1):
            for how in ("before", "after"):
                with self.subTest(post=post, how=how):
                    self._killed_at(post, how, calm)

    def _killed_at(self, post: int, how: str, calm: Any) -> None:
        self.search = FakeSearch(trains)
        self.addCleanup(self.search.stop)
        posting = FakeSearch.post

        def dies(search: FakeSearch, operations: Any) -> Any:
            if search.posts != post:
                return posting(search, operations)
            if how == "after":
                posting(search, operations)
            raise Refusal("killed", 0, 403)

        with mock.patch.object(FakeSearch, "post", dies), self.assertRaises(SearchError):
            self.run_search()
        method = Scripted()
        self.run_search(method)
        self.assertEqual(EXPECTED, method.calls)
        self.assertEqual(calm, self.search.operations)

    def test_outages_do_not_change_the_operations_of_a_search(self) -> None:
        self.run_search()
        calm = self.search.operations
        self.search = FakeSearch(trains)
        self.addCleanup(self.search.stop)
        self.search.fault = lambda post: [None, 503, "lose answer", None, 429][post % 5]
        self.search.stream_breaks_after = 3
        self.run_search()
        self.assertEqual(calm, self.search.operations)

    def test_a_method_that_decides_differently_for_the_same_history_raises(self) -> None:
        self.search.happens = lambda search: search.complete()
        self.run_search(Scripted([0.1, 0.2]))
        with self.assertRaisesRegex(NotDeterministicError, r"operation 1-0 was .*0\.2.*0\.5"):
            self.run_search(Scripted([0.1, 0.5]))

    def test_an_operation_on_a_trial_that_has_ended_is_ignored(self) -> None:
        class Closes(SearchMethod):
            def initial_operations(self, state: SearcherState) -> Iterable[Operation]:
                return [Create("a", {})]

            def on_trial_created(self, state: SearcherState, name: Any) -> Iterable[Operation]:
                search.end(1)
                return [Progress(0.5), Close("a")]

            def on_trial_closed(self, state: SearcherState, name: Any) -> Iterable[Operation]:
                search.happens = lambda done: done.complete()
                return [Shutdown()]

        search = self.search
        search.happens = lambda done: None
        self.run_search(Closes())
        self.assertEqual(
            [["propose"], ["progress"], ["finish"]],
            [[key for key in one if key != "id"] for one in search.operations],
        )

    def test_a_refused_operation_raises_an_error_with_its_code(self) -> None:
        refusal = Refusal("invalid_hyperparameters", 1, 400)
        with mock.patch.object(FakeSearch, "post", mock.Mock(side_effect=refusal)):
            with self.assertRaises(OperationRefusedError) as caught:
                self.run_search()
        self.assertEqual("invalid_hyperparameters", caught.exception.code)
        self.assertEqual(400, caught.exception.status)
        self.assertIn("operation 1 cannot be", str(caught.exception))
        self.assertEqual(
            [("operations[1]", "invalid_hyperparameters")], list(caught.exception.problems)
        )

    def test_a_method_can_cancel_the_search(self) -> None:
        class Cancels(SearchMethod):
            def initial_operations(self, state: SearcherState) -> Iterable[Operation]:
                return [Shutdown(cancel=True)]

        result = self.run_search(Cancels())
        self.assertEqual("canceled", result.reason)
        self.assertTrue(self.search.canceled)

    def test_an_experiment_is_submitted_with_its_code_and_key(self) -> None:
        self.search.happens = lambda search: search.complete()
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "train.py").write_text("print(1)")
            runner = SearchRunner(Scripted(), self.search.url, "ty_token")
            config = {"entrypoint": "true", "searcher": {"name": "custom", "metric": "loss"}}
            runner.run(config, folder, key="mine")
            SearchRunner(Scripted(), self.search.url, "t").run(config, folder, key="mine")
        self.assertEqual(self.search.created[0], self.search.created[1])
        self.assertEqual(["mine", "mine"], self.search.keys)


class Translation(unittest.TestCase):
    def batches(self, *operations: Operation, known: Iterable[str] = ()) -> list[list[Any]]:
        numbers = Numbers()
        for number, name in enumerate(known, 1):
            numbers.record_trial(name, number)
        batches = []
        for batch in translate(operations, 5, SearcherState(), numbers):
            batches.append(batch)
            for wire in batch:
                if "propose" in wire:
                    numbers.record_created(wire["id"], 100)
        return batches

    def test_operations_on_one_trial_are_merged(self) -> None:
        self.assertEqual(
            [[{"id": "5-0", "propose": {"hyperparameters": {"lr": 1}, "target": 4}}]],
            self.batches(Create("a", {"lr": 1}), ValidateAfter("a", 4)),
        )
        goal = {"trial": 1, "target": 9, "stopAtTarget": True}
        self.assertEqual(
            [[{"id": "5-0", "resume": goal}]],
            self.batches(ValidateAfter("a", 9), Close("a"), known=["a"]),
        )
        self.assertEqual(
            [[{"id": "5-0", "stop": {"trial": 1, "reason": "slow"}}]],
            self.batches(Close("a", "slow"), known=["a"]),
        )

    def test_an_operation_on_a_new_trial_is_in_a_later_batch(self) -> None:
        batches = self.batches(Create("a", {}), Create("b", {}, start_from="a"), Suspend("b"))
        self.assertEqual(
            [
                [{"id": "5-0", "propose": {"hyperparameters": {}}}],
                [{"id": "5-1", "propose": {"hyperparameters": {}, "startFromTrial": 100}}],
                [{"id": "5-2", "suspend": {"trial": 100}}],
            ],
            batches,
        )

    def test_a_batch_has_at_most_100_operations(self) -> None:
        batches = self.batches(*[Create(name, {}) for name in range(250)])
        self.assertEqual([100, 100, 50], [len(batch) for batch in batches])
        self.assertEqual("5-249", batches[-1][-1]["id"])

    def test_shutdown_is_converted_with_its_reason(self) -> None:
        self.assertEqual(
            [[{"id": "5-0", "finish": {}}, {"id": "5-1", "progress": {}}]],
            self.batches(Shutdown(), Progress(0)),
        )
        finish = {"failed": True, "reason": "no data", "letTrialsEnd": True}
        shutdown = Shutdown(failure=True, reason="no data", let_trials_end=True)
        self.assertEqual([[{"id": "5-0", "finish": finish}]], self.batches(shutdown))

    def test_an_impossible_operation_is_refused_before_it_is_posted(self) -> None:
        with self.assertRaisesRegex(SearchError, "no trial 'a'"):
            self.batches(Close("a"))
        with self.assertRaisesRegex(SearchError, "trial 'a' exists already"):
            self.batches(Create("a", {}), known=["a"])
        with self.assertRaises(TypeError):
            self.batches("close it")
        for wrong in (0, -1, float("nan"), float("inf")):
            with self.assertRaises(ValueError):
                ValidateAfter("a", wrong)
        with self.assertRaisesRegex(TypeError, "time metric, not dict"):
            ValidateAfter("a", {"batches": 3})
        with self.assertRaises(TypeError):
            Create("a", [1])
        with self.assertRaises(ValueError):
            Progress(2)
        with self.assertRaises(ValueError):
            SearchRunner(Scripted(), "", "")


class States(unittest.TestCase):
    def setUp(self) -> None:
        self.state = SearcherState()
        self.version = 0
        self.tell("SearchStarted", metric="loss", seed=3, space={"lr": {}})

    def tell(self, name: str, request_id: Any = None, **data: Any) -> list[Any]:
        self.version += 1
        calls = self.state.apply(SearchEvent(self.version, name, data), request_id)
        return [(call.method, *call.arguments) for call in calls]

    def test_a_target_is_reported_as_completed_once(self) -> None:
        propose = {"id": "1-0", "propose": {"target": 4}}
        self.tell("OperationsPosted", operations=[propose])
        created = self.tell("TrialProposed", "a", number=1, evidence={"operation": "1-0"})
        self.assertEqual([("on_trial_created", "a")], created)
        self.assertEqual(4, self.state.trials["a"].target)
        values = {"loss": "NaN"}
        on_way = self.tell("ObservationRecorded", trial=1, time=3, values=values)
        self.assertEqual(["on_validation_reported"], [call[0] for call in on_way])
        there = self.tell("ObservationRecorded", trial=1, time=5, values={"loss": 0.5})
        self.assertEqual(("on_validation_completed", "a", 0.5, 5.0), there[-1])
        after = self.tell("ObservationRecorded", trial=1, time=6, values={"loss": 0.5})
        self.assertEqual(1, len(after))
        late = {"id": "6-0", "resume": {"trial": 1, "target": 5.5}}
        self.assertEqual(
            [("on_validation_completed", "a", 0.5, 6.0)],
            self.tell("OperationsPosted", operations=[late]),
        )

    def test_a_trial_that_trained_past_its_target_has_the_targets_value(self) -> None:
        propose = {"id": "1-0", "propose": {"target": 2}}
        self.tell("OperationsPosted", operations=[propose])
        self.tell("TrialProposed", "a", number=1, evidence={"operation": "1-0"})
        # A suspension takes time: the steps that the trial trains meanwhile must not change a decision.
        for time in range(2, 9):
            self.tell("ObservationRecorded", trial=1, time=time, values={"loss": 1 / time})
        late = {"id": "6-0", "resume": {"trial": 1, "target": 4}}
        self.assertEqual(
            [("on_validation_completed", "a", 0.25, 4.0)],
            self.tell("OperationsPosted", operations=[late]),
        )

    def test_each_outcome_of_a_trial_calls_its_method(self) -> None:
        for number, name in enumerate("abc", 1):
            self.tell("TrialProposed", name, number=number)
        ended = [
            self.tell("TrialOutcomeRecorded", trial=number, outcome=f"TRIAL_OUTCOME_{outcome}")[0]
            for number, outcome in ((1, "STOPPED_EARLY"), (2, "FAILED"), (3, "CANCELED"))
        ]
        self.assertEqual(
            [
                ("on_trial_closed", "a"),
                ("on_trial_exited_early", "b", ExitedReason.ERRORED),
                ("on_trial_exited_early", "c", ExitedReason.USER_CANCELED),
            ],
            ended,
        )
        self.assertEqual(({"a"}, {"b", "c"}), (self.state.trials_closed, self.state.failures))

    def test_unknown_events_and_trials_of_others_cause_no_calls(self) -> None:
        self.assertEqual([("on_trial_created", "trial-1")], self.tell("TrialProposed", number=1))
        self.assertEqual([], self.tell("SomethingNew", trial=9))
        repeat = self.tell("ObservationRecorded", trial=1, time=1, values={"loss": 1}, repeat=True)
        self.assertEqual([], repeat)
        self.assertEqual([], self.tell("ObservationRecorded", trial=1, missing={"name": "loss"}))

    def test_request_ids_and_random_numbers_are_reproducible(self) -> None:
        before = (self.state.new_request_id(), self.state.random.random())
        self.setUp()
        self.assertEqual(before, (self.state.new_request_id(), self.state.random.random()))
        self.assertNotEqual(before[0], self.state.new_request_id())


if __name__ == "__main__":
    unittest.main()
