"""Tests of the program ``trainyard`` with a fake gateway."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from ports import free_port
from test_client import Gateway
from test_client_metrics import END

from trainyard._command import main
from trainyard._command._call import Call
from trainyard.client._access import NoClusterError
from trainyard.client._logins import logins_file

EXPERIMENT = {"id": "12", "name": "a\x1b[31m", "state": "ERROR", "reason": "out of memory\nmore"}


class CommandTest(unittest.TestCase):
    def setUp(self) -> None:
        self.gateway = Gateway()
        self.addCleanup(self.gateway.stop)
        self.answers: dict[str, Any] = {"experiments/12": EXPERIMENT}
        self.gateway.answer = self.answer
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        environment = {"TRAINYARD_URL": self.gateway.url, "TRAINYARD_TOKEN": "t"}
        environment["XDG_CONFIG_HOME"] = str(self.folder / "config")
        patch = mock.patch.dict(os.environ, environment)
        patch.start()
        self.addCleanup(patch.stop)

    def answer(self, method: str, path: str) -> tuple[int, Any]:
        value = self.answers.get(path.removeprefix("/api/v1/"))
        if value is None:
            return 404, {"code": "not_found", "detail": f"there is no {path}"}
        return value if isinstance(value, tuple) else (200, value)

    def run_command(self, *line: str, stdin: str = "") -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            with mock.patch("sys.stdin", io.StringIO(stdin)):
                code = main(line)
        return code, out.getvalue(), err.getvalue()

    def test_a_table_escapes_control_characters_and_json_is_the_platforms_object(self) -> None:
        self.answers["experiments"] = {"items": [EXPERIMENT], "position": "7"}
        code, out, _ = self.run_command("e", "ls", "--limit", "5", "--state", "error")
        self.assertEqual(
            (code, out.splitlines()[1].split()[:3]), (0, ["12", "a\\u001b[31m", "ERROR"])
        )
        query = {"states": ["ERROR"], "pageSize": ["5"]}
        self.assertEqual(self.gateway.asked[-1][3], query)
        expected = {"items": [EXPERIMENT], "position": "7", "nextPageToken": ""}
        for line in (["-o", "json", "e", "ls"], ["experiment", "list", "-o", "json"]):
            code, out, _ = self.run_command(*line)
            self.assertEqual((code, json.loads(out)), (0, expected))

    def test_the_exit_code_is_1_for_a_failure_and_2_for_a_refusal_or_wrong_usage(self) -> None:
        code, _, err = self.run_command("e", "describe", "13")
        self.assertEqual((code, err), (2, "There is no /api/v1/experiments/13.\n"))
        code, out, err = self.run_command("e", "wait", "12")
        self.assertEqual((code, out), (1, "experiment 12 ended ERROR\n"))
        self.assertEqual(err, "Experiment 12 ended ERROR: out of memory.\n")
        problems = [{"path": "searcher.name", "detail": "no such searcher"}]
        self.answers["experiments/12"] = (400, {"code": "invalid_config", "errors": problems})
        code, _, err = self.run_command("e", "describe", "12")
        self.assertEqual((code, err), (2, "searcher.name: no such searcher\n"))
        for wrong in (
            ["e"],
            ["frob"],
            ["e", "logs", "12", "--since", "soon"],
            ["e", "describe", ""],
        ):
            self.assertEqual(self.run_command(*wrong)[0], 2)
        self.assertEqual(self.run_command("--help")[0], 0)
        self.assertEqual(self.run_command("--version")[0], 0)

    def test_an_unreachable_platform_and_no_cluster_have_the_exit_code_1(self) -> None:
        away = {"TRAINYARD_URL": f"http://127.0.0.1:{free_port()}"}
        with mock.patch.dict(os.environ, away), mock.patch.object(Call.api, "__defaults__", (0.1,)):
            code, _, err = self.run_command("e", "describe", "12")
        self.assertEqual(code, 1)
        self.assertRegex(err, "^The platform cannot be reached: GET /api/v1/experiments/12: ")
        with mock.patch("trainyard._command._call.find_access", side_effect=NoClusterError("none")):
            code, _, err = self.run_command("e", "describe", "12")
        self.assertEqual(code, 1)
        self.assertRegex(err, "^No cluster runs here. Log in with trainyard login ADDRESS")

    def test_followed_lines_are_printed_and_the_exit_code_says_how_it_ended(self) -> None:
        line = {"trial": "12.1", "text": "größer", "cursor": "1"}
        stream = f"id: 1\ndata: {json.dumps(line)}\n\n".encode() + END
        self.answers["experiments/12/logs:follow"] = (200, stream)
        code, out, _ = self.run_command("e", "logs", "12", "-f", "--level", "info")
        self.assertEqual((code, out), (1, "[12.1] größer\nexperiment 12 ended ERROR\n"))
        followed = [asked[3] for asked in self.gateway.asked if asked[1].endswith(":follow")]
        self.assertEqual(followed, [{"level": ["info"]}])
        self.assertEqual(self.run_command("e", "logs", "12", "-f", "--tail", "1")[0], 2)

    def test_a_verb_on_several_experiments_prints_each_outcome(self) -> None:
        items = [
            {"experiment": "1", "outcome": "changed"},
            {"experiment": "2", "outcome": "refused", "detail": "it has ended"},
        ]
        self.answers["experiments:act"] = {"items": items}
        code, out, err = self.run_command("e", "kill", "1", "2")
        self.assertEqual(code, 1)
        self.assertEqual(out, "experiment 1: kill, done\nexperiment 2: refused, it has ended\n")
        self.assertEqual(err, "1 of 2 experiments were refused.\n")
        body = {"experiments": ["1", "2"], "verb": "kill", "reason": "killed by a user"}
        self.assertEqual(self.gateway.asked[-1][2], {**body, "dryRun": False})

    def test_lists_and_describe_show_progress_and_times_as_yard_does(self) -> None:
        times = {"createdAtMs": 400_000, "ranMs": 60_000}
        running = {**EXPERIMENT, "state": "ACTIVE", "phase": "queued", "progress": 0.379, **times}
        running.update(estimatedEndAtMs=1_250_000, runningSinceMs=880_000)
        ended = {"id": "12.3", "progress": 1, **times, "endedAtMs": 490_000, "warning": "no value"}
        at_now = mock.patch("trainyard.client._progress.time.time", return_value=1_000.0)
        self.answers["experiments"] = {"items": [running]}
        self.answers["experiments/12"] = running
        self.answers["trials/12.3"] = ended
        self.answers["experiments/12/trials"] = {
            "items": [{**ended, "state": "STOPPING_COMPLETED"}]
        }
        with at_now:
            _, trials, _ = self.run_command("t", "ls", "12")
            _, listed, _ = self.run_command("e", "ls")
            _, experiment, _ = self.run_command("e", "describe", "12")
            _, trial, _ = self.run_command("t", "describe", "12.3")
        titles, row = listed.splitlines()
        self.assertEqual(titles.split()[2:5], ["STATE", "PROGRESS", "LEFT"])
        self.assertEqual(row.split()[2:5], ["QUEUED", "37%", "4m"])
        self.assertRegex(trials, r"12\.3 +STOPPING +100% .* 1m +0")
        self.assertRegex(experiment, r"progress +37%, about 4m left\n")
        self.assertRegex(experiment, r"time +10m, ran 3m\n")
        self.assertRegex(trial, r"progress +100%\n")
        self.assertRegex(trial, r"warning +no value\n")

    def test_login_reads_the_token_from_stdin_and_logout_forgets_it(self) -> None:
        self.answers["experiments"] = {}
        code, out, err = self.run_command(
            "login", self.gateway.url, "--token", "--name", "lab", stdin="secret\n"
        )
        self.assertEqual((code, out), (0, "logged in to lab\n"))
        self.assertNotIn("secret", err)
        self.assertIn('"secret"', logins_file(os.environ).read_text())
        self.assertEqual(self.run_command("login", self.gateway.url, "--token")[0], 2)
        self.assertEqual(self.run_command("logout")[:2], (0, "logged out of lab\n"))
        self.assertEqual(self.run_command("logout", "lab")[0], 2)


if __name__ == "__main__":
    unittest.main()
