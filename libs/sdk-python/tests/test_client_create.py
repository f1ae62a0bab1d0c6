"""Tests of ``create_experiment`` and ``validate`` of ``trainyard.client``, with a fake gateway."""

from __future__ import annotations

import base64
import io
import json
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path
from typing import Any

from test_client import Gateway

from trainyard import client

CREATED = {"experiment": {"id": "7", "state": "ACTIVE"}, "warnings": ["data: is not read"]}
CONFIG = {"name": "a", "entrypoint": "python3 train.py"}


class CreateTest(unittest.TestCase):
    def setUp(self) -> None:
        self.gateway = Gateway()
        self.addCleanup(self.gateway.stop)
        self.client = client.Client(self.gateway.url, "t", patience_s=5.0)
        self.addCleanup(self.client.close)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.code = self.folder / "code"
        self.code.mkdir()
        (self.code / "train.py").write_text("pass")
        self.gateway.answer = lambda method, path: (200, CREATED)

    def body(self) -> dict[str, Any]:
        return self.gateway.asked[-1][2]

    def names(self) -> list[str]:
        content = base64.b64decode(self.body()["context"])
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            return tar.getnames()

    def test_a_configuration_may_be_a_mapping_a_path_or_yaml(self) -> None:
        file = self.folder / "a.yaml"
        file.write_text("name: file\n")
        for config, text in (
            (CONFIG, json.dumps(CONFIG)),
            (file, "name: file\n"),
            (str(file), "name: file\n"),
            ("name: text\nentrypoint: x", "name: text\nentrypoint: x"),
            ("{name: text}", "{name: text}"),
        ):
            with self.subTest(config=config), self.assertLogs("trainyard", "WARNING"):
                self.client.create_experiment(config, self.code)
                self.assertEqual(self.body()["config"], text)
        with self.assertRaisesRegex(client.CodeError, "none.yaml does not exist"):
            self.client.create_experiment("none.yaml", self.code)
        with self.assertRaisesRegex(TypeError, "cannot contain a set"):
            self.client.create_experiment({"hyperparameters": {1, 2}}, self.code)

    def test_warnings_of_a_new_experiment_are_returned_and_logged(self) -> None:
        with self.assertLogs("trainyard", "WARNING") as logs:
            created = self.client.create_experiment(CONFIG, self.code)
        self.assertEqual((created.id, created.warnings), ("7", ["data: is not read"]))
        self.assertIn("data: is not read", logs.output[0])
        with self.assertLogs("trainyard", "WARNING"):
            self.assertEqual(self.client.validate(CONFIG), ["data: is not read"])
        self.assertEqual(self.body()["validateOnly"], True)

    def test_overrides_replace_keys_of_the_configuration(self) -> None:
        with self.assertLogs("trainyard", "WARNING"):
            self.client.create_experiment(
                CONFIG,
                overrides={"hyperparameters.lr": 0.1},
                labels=("a",),
                workspace="w",
                project="p",
                paused=True,
            )
        overrides = ["hyperparameters.lr=0.1", 'labels=["a"]', 'workspace="w"', 'project="p"']
        self.assertEqual(self.body()["overrides"], overrides)
        self.assertIs(self.body()["paused"], True)
        self.assertNotIn("context", self.body())

    def test_included_files_are_packed_next_to_the_code(self) -> None:
        data = self.folder / "data"
        (data / "deep").mkdir(parents=True)
        (data / "deep" / "x.csv").write_text("1")
        (data / "y.bin").write_text("1")
        (data / ".detignore").write_text("*.bin\n.detignore\n")
        (self.folder / "util.py").write_text("pass")
        with self.assertLogs("trainyard", "WARNING"):
            self.client.create_experiment(CONFIG, self.code, [data, self.folder / "util.py"])
        self.assertEqual(self.names(), ["train.py", "data/deep/x.csv", "util.py"])
        (self.code / "util.py").write_text("pass")
        with self.assertRaisesRegex(client.CodeError, "util.py cannot be included: .* too"):
            self.client.create_experiment(CONFIG, self.code, [self.folder / "util.py"])
        with self.assertRaisesRegex(client.CodeError, "nothing.py to include does not exist"):
            self.client.create_experiment(CONFIG, self.code, [self.folder / "nothing.py"])
        with self.assertRaisesRegex(ValueError, "pass model_dir, too"):
            self.client.create_experiment(CONFIG, None, [data])

    def test_retries_of_one_call_have_the_same_idempotency_key(self) -> None:
        answers = iter([(503, {}), (200, CREATED), (200, CREATED)])
        self.gateway.answer = lambda method, path: next(answers)
        with self.assertLogs("trainyard", "WARNING"):
            self.client.create_experiment(CONFIG, self.code)
            self.client.create_experiment(CONFIG, self.code, key="mine")
        first, again, mine = (asked[4] for asked in self.gateway.asked)
        self.assertEqual((first, mine), (again, "mine"))

    def test_a_refused_configuration_raises_an_error_that_names_each_key(self) -> None:
        errors = [{"path": "searcher.name", "detail": "is missing"}, {"path": "a", "detail": "b"}]
        problem = {"code": "invalid_config", "detail": "searcher.name is missing; a b"}
        self.gateway.answer = lambda method, path: (400, {**problem, "errors": errors})
        with self.assertRaisesRegex(client.ApiError, "searcher.name is missing") as raised:
            self.client.create_experiment(CONFIG, self.code)
        self.assertEqual(raised.exception.problems, [("searcher.name", "is missing"), ("a", "b")])

    def test_nothing_is_sent_if_the_code_folder_cannot_be_packed(self) -> None:
        with self.assertRaisesRegex(client.CodeError, "does not exist"):
            self.client.create_experiment(CONFIG, self.folder / "none")
        with self.assertRaisesRegex(client.CodeError, "is not a folder"):
            self.client.create_experiment(CONFIG, self.code / "train.py")
        with self.assertRaisesRegex(client.CodeError, "put the values in their places"):
            self.client.create_experiment({"secret": "<masked>"}, self.code)
        self.assertEqual(self.gateway.asked, [])

    def test_the_commit_and_the_diff_of_a_repository_are_sent(self) -> None:
        git = ("git", "-C", str(self.code), "-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run((*git, "init", "-q", "-b", "main"), check=True)
        subprocess.run((*git, "add", "."), check=True)
        subprocess.run((*git, "commit", "-qm", "a"), check=True)
        (self.code / "train.py").write_text("changed")
        (self.code / "x.pyc").write_text("left out")
        with self.assertLogs("trainyard", "WARNING"):
            self.client.create_experiment(CONFIG, self.code)
        repository = self.body()["repository"]
        self.assertRegex(repository["commit"], "^[0-9a-f]{40}$")
        self.assertEqual((repository["branch"], repository["changed"]), ("main", True))
        self.assertIn("+changed", repository["diff"])

    def test_an_entrypoint_that_names_the_startup_hook_causes_a_warning(self) -> None:
        (self.code / "startup-hook.sh").write_text("true")
        with self.assertLogs("trainyard", "WARNING"):
            created = self.client.create_experiment(
                {**CONFIG, "entrypoint": "./startup-hook.sh && x"}, self.code
            )
        self.assertIn("it runs twice", created.warnings[-1])

    def test_wait_polls_until_the_experiment_has_ended(self) -> None:
        states = iter(["ACTIVE", "ACTIVE", "COMPLETED"])
        with self.assertLogs("trainyard", "WARNING"):
            created = self.client.create_experiment(CONFIG, self.code)
        self.gateway.answer = lambda method, path: (200, {"id": "7", "state": next(states)})
        self.assertEqual(created.wait(interval_s=0.01).state, "COMPLETED")
        self.gateway.answer = lambda method, path: (200, {"id": "7", "state": "ACTIVE"})
        with self.assertRaisesRegex(TimeoutError, "experiment 7 is ACTIVE"):
            created.wait(timeout_s=0.02, interval_s=0.01)


if __name__ == "__main__":
    unittest.main()
