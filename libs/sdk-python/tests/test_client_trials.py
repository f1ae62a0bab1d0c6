"""Tests of what ``trainyard.client`` reads of trials, checkpoints, the queue and the cluster, with a fake gateway."""

from __future__ import annotations

import json
import sys
import tempfile
import types
import unittest
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from unittest import mock

from test_client import Gateway, archive, manifest
from test_client_metrics import END, event, point

from trainyard import client

TRIAL = {
    "id": "12.3",
    "experiment": "12",
    "number": 3,
    "state": "COMPLETED",
    "hyperparameters": {"lr": 0.1, "note": "<b>&"},
    "stepsCompleted": 40,
    "bestValidation": {"loss": 0.25},
    "bestValue": 0.25,
    "latestCheckpoint": "c2",
    "createdAtMs": 1_790_000_000_000,
}
EXPERIMENT = {"id": "12", "name": "<iris>", "state": "COMPLETED", "metric": "loss"}
FILES = {"model.pt": b"m" * 500, "a/b.txt": b"b"}
CHECKPOINT = {
    "uuid": "c2",
    "experiment": "12",
    "trial": "12.3",
    "stepsCompleted": 40,
    "state": "COMPLETED",
    "bytes": 501,
    "metadata": {"epoch": 4},
    "completedAtMs": 1_790_000_000_000,
}
WHOLE = {**CHECKPOINT, "manifest": manifest(FILES), "metrics": {"loss": 0.25, "acc": "NaN"}}


def line(text: str, cursor: str) -> dict[str, Any]:
    return {"trial": "12.3", "run": 1, "source": "stdout", "text": text, "cursor": cursor}


class ReadingTest(unittest.TestCase):
    """The gateway answers only the paths that a test names; each other one is an unknown path."""

    def setUp(self) -> None:
        self.gateway = Gateway()
        self.addCleanup(self.gateway.stop)
        self.client = client.Client(self.gateway.url, "t", patience_s=1.0)
        self.addCleanup(self.client.close)
        self.answers: dict[str, Any] = {"trials/12.3": TRIAL, "experiments/12": EXPERIMENT}
        self.gateway.answer = self.answer
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def answer(self, method: str, path: str) -> tuple[int, Any]:
        value = self.answers.get(path.removeprefix("/api/v1/"))
        if isinstance(value, list):
            value = value.pop(0)
        if value is None:
            return 404, {"code": "not_found", "detail": f"there is no {path}"}
        return value if isinstance(value, tuple) else (200, value)

    def queries(self, path: str) -> list[dict[str, list[str]]]:
        return [asked[3] for asked in self.gateway.asked if asked[1] == f"/api/v1/{path}"]

    def changes(self) -> list[tuple[str, Any]]:
        return [(asked[1], asked[2]) for asked in self.gateway.asked if asked[0] == "POST"]


class TrialTest(ReadingTest):
    def test_a_trial_has_the_fields_of_the_platforms_answer(self) -> None:
        trial = self.client.get_trial("12.3")
        self.assertEqual((trial.id, trial.experiment, trial.number), ("12.3", "12", 3))
        self.assertEqual((trial.state, trial.steps_completed), ("COMPLETED", 40.0))
        self.assertEqual(trial.hparams, {"lr": 0.1, "note": "<b>&"})
        self.assertEqual((trial.best_value, trial.best_validation), (0.25, {"loss": 0.25}))
        self.assertEqual((trial.latest_checkpoint, trial.ended_at_ms), ("c2", None))
        self.assertEqual(trial.as_json(), TRIAL)
        with self.assertRaisesRegex(client.NotFoundError, "there is no /api/v1/trials/12.9"):
            self.client.get_trial("12.9")

    def test_list_trials_sends_filter_and_order_and_requests_pages_when_they_are_needed(
        self,
    ) -> None:
        pages = [{"items": [TRIAL], "nextPageToken": "n"}, {"items": [{"id": "12.4"}]}]
        self.answers["experiments/12/trials"] = pages
        found = self.client.get_experiment(12).list_trials("metrics.loss < 1", "best_value desc")
        self.assertEqual(self.queries("experiments/12/trials"), [])
        self.assertEqual(found[0].id, "12.3")
        first = {"filter": ["metrics.loss < 1"], "order_by": ["best_value desc"]}
        self.assertEqual(self.queries("experiments/12/trials"), [{**first, "pageSize": ["500"]}])
        self.assertEqual(([one.id for one in found], len(found)), (["12.3", "12.4"], 2))
        self.assertEqual((found[-1].id, bool(found)), ("12.4", True))
        self.assertEqual(len(self.queries("experiments/12/trials")), 2)

    def test_metrics_are_rows_of_all_pages_and_a_frame_has_a_column_for_each_metric(self) -> None:
        def pages() -> list[Any]:
            other = point("0-2", metrics={"acc": 1, "run": 7}, stepsCompleted=4)
            return [{"items": [point("0-1")], "nextPageToken": "n"}, {"items": [other]}]

        self.answers["trials/12.3/metrics"] = pages()
        trial = self.client.get_trial("12.3")
        rows = trial.metrics("training")
        self.assertEqual([row.steps_completed for row in rows], [2.0, 4.0])
        self.assertEqual(rows[0].metrics["loss"], 0.5)
        self.assertEqual(self.queries("trials/12.3/metrics")[1]["pageToken"], ["n"])
        self.assertEqual(self.queries("trials/12.3/metrics")[1]["group"], ["training"])
        self.answers["trials/12.3/metrics"] = pages()
        pandas = types.SimpleNamespace(DataFrame=lambda rows, columns: (rows, columns))
        with mock.patch.dict(sys.modules, {"pandas": pandas}):
            frame, columns = trial.metrics_frame("training", superseded=True)
        fixed = ["trial", "run", "group", "steps_completed", "reported_at_ms"]
        self.assertEqual(columns, [*fixed, "loss", "acc"])
        self.assertEqual((frame[1]["run"], frame[1]["acc"], frame[0]["loss"]), (1, 1.0, 0.5))
        self.assertEqual(self.queries("trials/12.3/metrics")[2]["superseded"], ["true"])
        with mock.patch.dict(sys.modules, {"pandas": None}):
            with self.assertRaisesRegex(ImportError, "pip install pandas"):
                trial.metrics_frame()

    def test_iter_metrics_yields_stored_points_and_then_new_ones_each_once(self) -> None:
        self.answers["trials/12.3/metrics"] = [
            {"items": [point("0-1")], "nextPageToken": "n", "streamPosition": "5"},
            {"items": [point("0-2")], "streamPosition": "6"},
        ]
        again = event(6, point=point("0-2")) + event(7, point=point("0-2", run=2))
        self.answers["trials/12.3/metrics:follow"] = (200, again + END)
        points = list(self.client.get_trial("12.3").iter_metrics("training"))
        self.assertEqual(
            [(one.run, one.key) for one in points], [(1, "0-1"), (1, "0-2"), (2, "0-2")]
        )
        followed = self.queries("trials/12.3/metrics:follow")
        self.assertEqual(followed, [{"after": ["5"], "group": ["training"]}])

    def test_a_trial_is_killed_and_restarted(self) -> None:
        self.answers.update({"trials/12.3/kill": {}, "trials/12.3/restart": {}})
        trial = self.client.get_trial("12.3")
        trial.kill(reason="it diverges")
        trial.restart()
        path = "/api/v1/trials/12.3"
        self.assertEqual(
            self.changes(),
            [(f"{path}/kill", {"reason": "it diverges"}), (f"{path}/restart", {})],
        )


class LogsTest(ReadingTest):
    def test_logs_sends_every_filter_and_reads_all_pages(self) -> None:
        pages = [{"items": [line("a", "1")], "nextPageToken": "n"}, {"items": [line("b", "2")]}]
        self.answers["trials/12.3/logs"] = pages
        lines = list(
            self.client.get_trial("12.3").logs(
                run=2,
                node_rank=0,
                rank=1,
                source="stderr",
                min_level="ERROR",
                timestamp_after=datetime(2026, 1, 1, tzinfo=timezone.utc),
                timestamp_before="2026-01-01T00:00:01Z",
                search_text="loss",
                matches="l.ss",
                words="nan loss",
            )
        )
        self.assertEqual([str(one) for one in lines], ["a", "b"])
        first, second = self.queries("trials/12.3/logs")
        expected = {
            "run": ["2"],
            "nodeRank": ["0"],
            "rank": ["1"],
            "source": ["stderr"],
            "level": ["error"],
            "fromMs": ["1767225600000.0"],
            "untilMs": ["1767225601000.0"],
            "contains": ["loss"],
            "matches": ["l.ss"],
            "search": ["nan loss"],
            "pageSize": ["1000"],
        }
        self.assertEqual((first, second), (expected, {**expected, "pageToken": ["n"]}))

    def test_head_and_tail_limit_the_lines(self) -> None:
        experiment = self.client.get_experiment(12)
        path = "experiments/12/logs"
        self.answers[path] = [{"items": [line("a", "1"), line("b", "2")], "nextPageToken": "n"}]
        self.assertEqual([str(one) for one in experiment.logs(head=2)], ["a", "b"])
        self.answers[path] = [
            {"items": [line("c", "3")], "before": "3"},
            {"items": [line("a", "1"), line("b", "2")], "before": ""},
        ]
        self.assertEqual([one.text for one in experiment.logs(tail=4)], ["a", "b", "c"])
        tails = [(query["tail"], query.get("before")) for query in self.queries(path)[1:]]
        self.assertEqual(tails, [(["4"], None), (["3"], ["3"])])
        for wrong in ({"tail": 1, "follow": True}, {"head": 0}, {"timestamp_after": "soon"}):
            with self.assertRaises(ValueError):
                experiment.logs(**wrong)

    def test_followed_lines_continue_after_the_last_one_when_the_stream_breaks(self) -> None:
        def sent(text: str, cursor: str) -> bytes:
            return f"id: {cursor}\ndata: {json.dumps(line(text, cursor))}\n\n".encode()

        self.answers["trials/12.3/logs:follow"] = [
            (200, b": trainyard\n\n" + sent("a", "1") + sent("b", "2")[:-5]),
            (503, {"code": "unavailable"}),
            (200, sent("b", "2") + END),
        ]
        lines = list(self.client.get_trial("12.3").logs(follow=True, source="stdout"))
        self.assertEqual([(one.text, one.cursor) for one in lines], [("a", "1"), ("b", "2")])
        asked = [query.get("after") for query in self.queries("trials/12.3/logs:follow")]
        self.assertEqual(asked, [None, ["1"], ["1"]])


class CheckpointTest(ReadingTest):
    def setUp(self) -> None:
        super().setUp()
        self.answers["checkpoints/c2"] = WHOLE

    def test_a_checkpoint_from_a_list_fetches_files_and_metrics_once(self) -> None:
        self.answers["trials/12.3/checkpoints"] = {"items": [CHECKPOINT]}
        [found] = self.client.get_trial("12.3").list_checkpoints("bytes > 1", "bytes desc")
        query = {"filter": ["bytes > 1"], "order_by": ["bytes desc"], "pageSize": ["500"]}
        self.assertEqual(self.queries("trials/12.3/checkpoints"), [query])
        self.assertEqual((found.uuid, found.bytes, found.metadata), ("c2", 501, {"epoch": 4}))
        self.assertEqual(found.resources, {"model.pt": 500, "a/b.txt": 1})
        self.assertEqual([file["path"] for file in found.files()], ["model.pt", "a/b.txt"])
        self.assertEqual(found.metrics["loss"], 0.25)
        self.assertEqual(len(self.queries("checkpoints/c2")), 1)

    def test_a_download_is_compared_with_the_manifest(self) -> None:
        found = self.client.get_checkpoint("c2")
        self.answers["checkpoints/c2/archive"] = archive(FILES)
        folder = found.download(self.folder / "best")
        self.assertEqual((folder / "a" / "b.txt").read_bytes(), b"b")
        self.assertEqual(sorted(path.name for path in folder.iterdir()), ["a", "model.pt"])
        with self.assertRaises(FileExistsError):
            found.download(folder)
        self.answers["checkpoints/c2/archive"] = archive({**FILES, "a/b.txt": b"altered"})
        with self.assertRaisesRegex(client.DownloadError, "differs from its recorded SHA-256"):
            found.download(self.folder / "other")
        self.answers["checkpoints/c2/archive"] = archive({"model.pt": FILES["model.pt"]})
        with self.assertRaisesRegex(client.DownloadError, "is missing"):
            found.download(self.folder / "other")
        part = found.download(self.folder / "part", globs=["*.pt", "*.bin"])
        self.assertEqual([path.name for path in part.iterdir()], ["model.pt"])
        self.assertEqual(self.queries("checkpoints/c2/archive")[-1], {"globs": ["*.pt", "*.bin"]})
        self.assertFalse((self.folder / "other").exists())

    def test_a_checkpoint_is_pinned_and_deleted_and_its_files_are_removed(self) -> None:
        verbs = ("pin", "unpin", "undelete")
        self.answers.update({f"checkpoints/c2/{verb}": {} for verb in verbs})
        self.answers["checkpoints/c2/delete"] = {"graceEndMs": 5}
        self.answers["checkpoints/c2/retention"] = {"keptBy": ["a pin"]}
        found = self.client.get_checkpoint("c2")
        found.pin("the paper")
        found.unpin()
        self.assertEqual(found.delete("disk"), 5)
        found.undelete()
        found.remove_files(["*.log"])
        self.assertEqual(found.explain(), {"keptBy": ["a pin"]})
        with self.assertRaises(ValueError):
            found.remove_files([])
        path = "/api/v1/checkpoints/c2"
        self.assertEqual(
            self.changes(),
            [
                (f"{path}/pin", {"reason": "the paper"}),
                (f"{path}/unpin", {"holder": ""}),
                (f"{path}/delete", {"reason": "disk"}),
                (f"{path}/undelete", {"reason": ""}),
                (f"{path}/delete", {"reason": "", "globs": ["*.log"]}),
            ],
        )
        refusal = (409, {"code": "checkpoint_pinned", "detail": "ada has pinned it"})
        self.answers["checkpoints/c2/delete"] = refusal
        with self.assertRaisesRegex(client.ApiError, "ada has pinned it"):
            found.delete()

    def verdict(self, checkpoint: str, value: Any, **more: Any) -> dict[str, Any]:
        return {"checkpoint": checkpoint, "trial": "12.3", "value": value, "state": "kept", **more}

    def test_top_checkpoint_is_the_best_complete_one_by_the_searchers_metric(self) -> None:
        def verdicts() -> list[dict[str, Any]]:
            return [
                self.verdict("c9", 0.1, state="deleted"),
                self.verdict("c1", 0.2),
                self.verdict("c2", 0.25),
                self.verdict("c3", "NaN"),
                self.verdict("c4", 0.9, trial="12.1"),
                {"checkpoint": "c5", "trial": "12.3", "state": "kept"},
            ]

        self.answers["experiments/12/retention"] = {"items": verdicts()}
        self.answers["checkpoints/c1"] = {**WHOLE, "uuid": "c1", "state": "DAMAGED"}
        self.answers["checkpoints/c4"] = {**WHOLE, "uuid": "c4", "trial": "12.1"}
        self.answers["experiments/12"] = {**EXPERIMENT, "smallerIsBetter": True}
        self.assertEqual(self.client.get_experiment(12).top_checkpoint().uuid, "c2")
        self.answers["experiments/12"] = EXPERIMENT
        self.assertEqual(self.client.get_experiment(12).top_checkpoint().uuid, "c4")
        self.assertEqual(self.client.get_trial("12.3").top_checkpoint().uuid, "c2")
        self.answers["experiments/12/retention"] = {"items": []}
        with self.assertRaisesRegex(client.NotFoundError, "no complete checkpoint .* of loss"):
            self.client.get_trial("12.3").top_checkpoint()

    def test_top_checkpoint_by_another_metric_compares_what_was_validated(self) -> None:
        self.answers["experiments/12/checkpoints"] = {"items": [{"uuid": "c1"}, {"uuid": "c2"}]}
        self.answers["checkpoints/c1"] = {**WHOLE, "uuid": "c1", "metrics": {"acc": 0.5}}
        experiment = self.client.get_experiment(12)
        self.assertEqual(experiment.top_checkpoint("acc", smaller_is_better=False).uuid, "c1")
        query = {"filter": ["state = COMPLETED"], "pageSize": ["500"]}
        self.assertEqual(self.queries("experiments/12/checkpoints"), [query])
        with self.assertRaises(ValueError):
            experiment.top_checkpoint("acc")


class ClusterTest(ReadingTest):
    def test_jobs_have_an_explanation_of_their_runs(self) -> None:
        job = {"job": "12", "pool": "default", "priority": 42, "runsWaiting": 1, "jobsAhead": 2}
        waiting = {"run": "12.1#1", "reason": "not_enough_free", "detail": "4 of 8 slots are free"}
        waiting = {**waiting, "startsWhen": "12.0#1 ends", "ahead": 3, "blockers": ["11.1#1"]}
        placed = {"run": "12.2#1", "placements": [{"agent": "gpu-1"}]}
        self.answers["jobs"] = {"items": [job]}
        self.answers["jobs/12/explanation"] = {"job": job, "runs": [waiting, placed], "old": True}
        [found] = self.client.list_jobs(pool="default", filter="runs_waiting > 0")
        query = {"pool": ["default"], "filter": ["runs_waiting > 0"], "pageSize": ["500"]}
        self.assertEqual(self.queries("jobs"), [query])
        self.assertEqual((found.experiment, found.jobs_ahead), ("12", 2))
        runs, old = found.explain()
        self.assertEqual((runs[0].detail, runs[0].ahead, old), ("4 of 8 slots are free", 3, True))
        self.assertEqual((runs[0].starts_when, runs[0].blockers), ("12.0#1 ends", ["11.1#1"]))
        self.assertEqual(runs[1].agents, ["gpu-1"])
        self.assertEqual(self.client.get_experiment(12).explain().runs, runs)

    def test_agents_pools_storages_and_tokens_are_listed(self) -> None:
        slots = [{"id": "0", "run": "12.1#1"}, {"id": "1"}]
        self.answers["agents"] = {"items": [{"name": "a", "state": "CONNECTED", "slots": slots}]}
        self.answers["pools"] = {"items": [{"name": "default", "slots": 8, "slotsFree": 3}]}
        self.answers["storages"] = {"items": [{"root": "/nfs", "checkpoints": 7}]}
        self.answers["tokens"] = {"items": [{"id": "t1", "label": "ci", "createdAtMs": 0.0}]}
        [agent] = self.client.list_agents(filter="free_slots > 0")
        self.assertEqual((agent.name, agent.slots_total, agent.slots_free), ("a", 2, 1))
        self.assertEqual(self.queries("agents")[0]["filter"], ["free_slots > 0"])
        self.assertEqual(
            [(one.name, one.slots_free) for one in self.client.list_pools()], [("default", 3)]
        )
        self.assertEqual([one.checkpoints for one in self.client.list_storages()], [7])
        # A list without pages is requested without a page size: the platform refuses unknown fields.
        self.assertEqual((self.queries("pools"), self.queries("storages")), ([{}], [{}]))
        [token] = self.client.list_tokens()
        self.assertEqual((token.label, token.expires_at_ms, token.revoked), ("ci", None, False))


class ShownTest(ReadingTest):
    def test_an_object_is_shown_with_name_state_and_best(self) -> None:
        self.answers["experiments/12"] = {**EXPERIMENT, "bestValue": 0.25, "bestTrial": "12.3"}
        experiment = self.client.get_experiment(12)
        self.assertEqual(
            repr(experiment),
            "Experiment(id='12', name='<iris>', state='COMPLETED', progress=0, trials=0,"
            " metric='loss', best_value=0.25, best_trial='12.3')",
        )
        self.assertIn("<th>name</th><td>&lt;iris&gt;</td>", experiment._repr_html_())
        self.assertIn("<th>best_value</th><td>0.25</td>", experiment._repr_html_())

    def test_a_list_is_a_table_whose_cells_are_escaped_and_whose_rows_are_limited(self) -> None:
        trials = [{**TRIAL, "id": f"12.{number}"} for number in range(1, 71)]
        self.answers["experiments/12/trials"] = {"items": trials}
        found = self.client.get_experiment(12).list_trials()
        html = found._repr_html_()
        self.assertIn("<td>lr=0.1, note=&lt;b&gt;&amp;</td>", html)
        self.assertEqual((html.count("<tr>"), html.endswith("<p>…</p>")), (61, True))
        self.assertEqual(
            repr(found).splitlines()[0].split()[:4], ["id", "state", "progress", "elapsed_s"]
        )
        self.assertEqual(len(repr(found).splitlines()), 62)
        self.answers["experiments/12/trials"] = {"items": [{"id": "12.1", "state": "A\n\x1b[31m"}]}
        self.assertIn("A\\n\\x1b[31m", repr(self.client.get_experiment(12).list_trials()))
        self.answers["experiments/12/trials"] = {}
        self.assertEqual(repr(self.client.get_experiment(12).list_trials()), "(none)")


if __name__ == "__main__":
    unittest.main()
