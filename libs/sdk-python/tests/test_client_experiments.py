"""Tests of ``trainyard.client`` for experiments, with a fake gateway."""

from __future__ import annotations

import hashlib
import json
import tempfile
import unittest
from pathlib import Path
from typing import Any

from test_client import Gateway, archive

from trainyard import client

IRIS = {
    "id": "12",
    "name": "iris",
    "state": "COMPLETED",
    "labels": ["a"],
    "bestValue": "NaN",
    "etag": '"3"',
    "config": {"name": "iris"},
}


class ExperimentTest(unittest.TestCase):
    def setUp(self) -> None:
        self.gateway = Gateway()
        self.addCleanup(self.gateway.stop)
        self.client = client.Client(self.gateway.url, "t", patience_s=5.0)
        self.addCleanup(self.client.close)
        self.gateway.answer = self.answer
        self.refusal: tuple[int, Any] | None = None

    def answer(self, method: str, path: str) -> tuple[int, Any]:
        if self.refusal is not None and method != "GET":
            return self.refusal
        if path == "/api/v1/experiments":
            return 200, {"items": [IRIS]}
        if method == "GET":
            return 200, IRIS
        if path.endswith("/delete"):
            return 200, {"graceEndMs": 1_790_000_000_000}
        return 200, {"position": "7", "experiment": {**IRIS, "etag": '"4"'}}

    def changes(self) -> list[tuple[str, str, Any]]:
        return [asked[:3] for asked in self.gateway.asked if asked[0] != "GET"]

    def test_an_experiment_has_the_fields_of_the_platforms_answer(self) -> None:
        found = self.client.get_experiment(12)
        self.assertEqual((found.id, found.state, found.labels), ("12", "COMPLETED", ["a"]))
        self.assertNotEqual(found.best_value, found.best_value)
        self.assertEqual([one.id for one in self.client.list_experiments()], ["12"])

    def test_code_files_and_the_search_picture_are_read_in_all_pages(self) -> None:
        found = self.client.get_experiment(12)
        pages: dict[str, list[Any]] = {
            "files": [
                {"items": [{"path": "a.py"}], "nextPageToken": "n"},
                {"items": [{"path": "b.py"}]},
            ],
            "text": [{"text": "print(1)\n"}, {"binary": True}],
            "picture": [
                {"version": 7, "trials": [{"trial": "12.1"}], "nextPageToken": "n"},
                {"version": 7, "trials": [{"trial": "12.2"}]},
            ],
        }
        self.gateway.answer = lambda method, path: (200, pages[path.rsplit("/", 1)[1]].pop(0))
        self.assertEqual([file["path"] for file in found.files()], ["a.py", "b.py"])
        self.assertEqual(found.file_text("lib/a b.py"), "print(1)\n")
        self.assertEqual(self.gateway.asked[-1][3], {"path": ["lib/a b.py"]})
        with self.assertRaisesRegex(ValueError, "is not text"):
            found.file_text("blob")
        picture = found.search_picture(version=7)
        self.assertEqual([trial["trial"] for trial in picture["trials"]], ["12.1", "12.2"])
        self.assertEqual(
            [asked[3] for asked in self.gateway.asked[-2:]],
            [{"version": ["7"]}, {"pageToken": ["n"]}],
        )

    def test_an_experiment_and_its_trials_are_continued_killed_and_restarted(self) -> None:
        found = self.client.get_experiment("12")
        found.continue_()
        found.continue_(max_trials=20)
        found.continue_(max_length=9, unit="epochs")
        found.kill_trial(3, reason="it diverges")
        found.restart_trial(3)
        path = "/api/v1/experiments/12/continue"
        self.assertEqual(
            self.changes(),
            [
                ("POST", path, {"lengthUnit": ""}),
                ("POST", path, {"maxTrials": 20, "lengthUnit": ""}),
                ("POST", path, {"maxLength": 9, "lengthUnit": "epochs"}),
                ("POST", "/api/v1/trials/12.3/kill", {"reason": "it diverges"}),
                ("POST", "/api/v1/trials/12.3/restart", {}),
            ],
        )

    def test_an_experiment_is_deleted_and_undeleted(self) -> None:
        found = self.client.get_experiment("12")
        self.assertEqual(found.delete(reason="a mistake"), 1_790_000_000_000)
        self.assertEqual(self.client.undelete_experiment(12).id, "12")
        path = "/api/v1/experiments/12"
        self.assertEqual(
            self.changes(),
            [
                ("POST", f"{path}/delete", {"reason": "a mistake"}),
                ("POST", f"{path}/undelete", {}),
            ],
        )

    def test_description_queue_and_checkpoint_policy_are_changed(self) -> None:
        found = self.client.get_experiment("12")
        changed = found.describe(notes="n", add_labels=["b"], if_unchanged=True)
        self.assertEqual((self.gateway.if_match, changed.etag), ('"3"', '"4"'))
        found.set_queue(priority=1, max_slots=0)
        self.assertIsNone(self.gateway.if_match)
        found.set_gc_policy(1, 2, 3, reason="disk")
        path = "/api/v1/experiments/12"
        policy = {"saveExperimentBest": 1, "saveTrialBest": 2, "saveTrialLatest": 3}
        self.assertEqual(
            self.changes(),
            [
                ("PATCH", path, {"notes": "n", "addLabels": ["b"], "removeLabels": []}),
                ("PATCH", path, {"priority": 1, "maxSlots": 0}),
                ("PATCH", path, {"gcPolicy": policy, "reason": "disk"}),
            ],
        )

    def test_describe_with_if_unchanged_raises_after_another_change(self) -> None:
        self.refusal = (412, {"code": "stale_revision", "detail": "it was changed"})
        with self.assertRaisesRegex(client.ApiError, "it was changed") as raised:
            self.client.get_experiment(12).describe(name="n", if_unchanged=True)
        self.assertEqual((raised.exception.status, raised.exception.code), (412, "stale_revision"))
        self.assertEqual(len(self.changes()), 1)

    def test_each_verb_sends_its_request(self) -> None:
        found = self.client.get_experiment(12)
        for verb in (found.pause, found.activate, found.cancel, found.kill, found.unarchive):
            self.assertEqual(verb().id, "12")
        verbs = ["pause", "activate", "cancel", "kill", "unarchive"]
        self.assertEqual(
            self.changes(), [("POST", f"/api/v1/experiments/12/{verb}", {}) for verb in verbs]
        )

    def test_a_verb_on_several_experiments_returns_a_result_for_each(self) -> None:
        items = [
            {"experiment": "1", "outcome": "changed"},
            {"experiment": "2", "outcome": "refused", "code": "experiment_ended", "detail": "no"},
        ]
        self.gateway.answer = lambda method, path: (200, {"items": items})
        done = self.client.act_on_experiments([1, "2"], "pause", dry_run=True)
        self.assertEqual(done[0], ("1", "changed", "", ""))
        self.assertEqual((done[1].outcome, done[1].code), ("refused", "experiment_ended"))
        body = {"experiments": ["1", "2"], "verb": "pause", "reason": "", "dryRun": True}
        self.assertEqual(self.changes(), [("POST", "/api/v1/experiments:act", body)])

    def test_label_experiments_returns_an_outcome_for_each(self) -> None:
        items = [
            {"experiment": "1", "outcome": "changed"},
            {"experiment": "2", "outcome": "unchanged"},
        ]
        self.gateway.answer = lambda method, path: (200, {"items": items})
        done = self.client.label_experiments([1, "2"], add=["prod"], remove=("old",))
        self.assertEqual([one.outcome for one in done], ["changed", "unchanged"])
        body = {
            "experiments": ["1", "2"],
            "addLabels": ["prod"],
            "removeLabels": ["old"],
            "dryRun": False,
        }
        self.assertEqual(self.changes(), [("POST", "/api/v1/experiments:label", body)])

    def test_preview_deletion_returns_the_kept_checkpoints(self) -> None:
        kept = [{"checkpoint": "c1", "trial": "12.1", "why": "a model pinned it"}]
        self.gateway.answer = lambda method, path: (
            200,
            {"id": "12", "checkpoints": 3, "kept": kept},
        )
        found = self.client.get_experiment(12).preview_deletion()
        self.assertEqual(found, (3, [("c1", "12.1", "a model pinned it")]))
        path = "/api/v1/experiments/12/delete"
        self.assertEqual(self.changes(), [("POST", path, {"dryRun": True})])

    def test_a_fork_replaces_keys_of_the_configuration(self) -> None:
        found = self.client.get_experiment(12)
        found.fork({"hyperparameters.lr": 0.1, "name": "a: b"}, checkpoint="c", paused=True)
        overrides = ["hyperparameters.lr=0.1", 'name="a: b"']
        body = {"config": "", "overrides": overrides, "checkpoint": "c", "paused": True}
        self.assertEqual(self.changes(), [("POST", "/api/v1/experiments/12/fork", body)])

    def test_archived_experiments_are_listed_only_on_request(self) -> None:
        self.client.get_experiment(12).archive(reason="replaced")
        path = "/api/v1/experiments/12/archive"
        self.assertEqual(self.changes(), [("POST", path, {"reason": "replaced"})])
        list(self.client.list_experiments(["a", "b"], ["ACTIVE", "ERROR"], archived=True))
        query = self.gateway.asked[-1][3]
        self.assertEqual(
            (query["labels"], query["states"], query["archived"]),
            (["a", "b"], ["ACTIVE", "ERROR"], ["true"]),
        )

    def test_an_experiment_is_downloaded_as_a_folder_and_compared(self) -> None:
        code = archive({"train.py": b"print(1)"})
        record = {"configText": "name: iris", "repository": {"commit": "c0de", "diff": "-a"}}
        digest = hashlib.sha256(code).hexdigest()
        run = {"run": "12.1#1", "packages": {"torch": "2.4", "bad": "1\n-r x"}}
        submission: dict[str, Any] = {"config": "name: iris\n", "record": record}
        submission["codeDigest"] = digest
        submission["environments"] = [run]
        answers: dict[str, Any] = {
            "/api/v1/experiments/12": IRIS,
            "/api/v1/experiments/12/submission": submission,
            "/api/v1/experiments/12/code": code,
            "/api/v1/experiments/12/diff/13": {"config": [{"path": "name"}]},
        }
        self.gateway.answer = lambda method, path: (200, answers[path])
        found = self.client.get_experiment(12)
        self.assertEqual(found.submission()["codeDigest"], digest)
        self.assertEqual(found.diff(13)["config"], [{"path": "name"}])
        with tempfile.TemporaryDirectory() as scratch:
            folder = found.download(Path(scratch) / "twelve")
            texts = {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}
            self.assertEqual((folder / "code" / "train.py").read_bytes(), b"print(1)")
            self.assertEqual(json.loads(texts.pop("submission.json")), submission)
            expected = {"experiment.yaml": "name: iris\n", "submitted.yaml": "name: iris"}
            expected["requirements.txt"] = "torch==2.4\n"
            self.assertEqual(texts, {**expected, "changes.diff": "-a"})
            with self.assertRaises(FileExistsError):
                found.download(folder)
            answers["/api/v1/experiments/12/code"] = archive({"train.py": b"altered"})
            with self.assertRaises(client.DownloadError):
                found.download(Path(scratch) / "other")
            self.assertEqual([path.name for path in Path(scratch).iterdir()], ["twelve"])


if __name__ == "__main__":
    unittest.main()
