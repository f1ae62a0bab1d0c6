"""Outside of a task, the same script runs and writes into a folder."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import trainyard

SRC = Path(trainyard.__file__).parents[1]


class Local(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        environment = mock.patch.dict(os.environ)
        environment.start()
        self.addCleanup(environment.stop)
        for name in [name for name in os.environ if name.startswith("TRAINYARD_")]:
            del os.environ[name]

    def init(self, **arguments):
        self.said = io.StringIO()
        with contextlib.redirect_stderr(self.said):
            return trainyard.init(**{"local_dir": self.folder / "here", **arguments})

    def reports(self, run=1):
        lines = (self.folder / f"here/run-{run}/spool/reports.ndjson").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def test_the_whole_api_works_in_local_mode(self):
        with self.init(local_hparams={"lr": 0.1}, local_config={"name": "x"}, local_seed=5) as ctx:
            self.assertEqual(ctx.info.hparams, {"lr": 0.1})
            self.assertEqual(ctx.info.config, {"name": "x"})
            self.assertEqual((ctx.info.trial_seed, ctx.info.run, ctx.info.local), (5, 1, True))
            self.assertIsNone(ctx.info.latest_checkpoint)
            ctx.train.report_training_metrics(1, {"loss": 0.5})
            ctx.train.report_progress(0.5)
            self.assertFalse(ctx.preempt.should_preempt())
            self.assertEqual(ctx.preempt.why, "")
            with ctx.checkpoint.store_path({"steps_completed": 1}) as (path, uuid):
                (path / "a").write_text("1")
            ctx.checkpoint.download(uuid, self.folder / "copy")
            self.assertEqual(ctx.checkpoint.get_metadata(uuid), {"steps_completed": 1})
            with self.assertRaises(trainyard.CheckpointError):
                ctx.checkpoint.get_metadata("another")
        self.assertIn(str(self.folder / "here"), self.said.getvalue())
        self.assertEqual((self.folder / "copy/a").read_text(), "1")
        self.assertEqual([r["group"] for r in self.reports()], ["training", "progress"])
        end = json.loads((self.folder / "here/run-1/end.json").read_text())
        self.assertEqual(end["reason"], "END_REASON_FINISHED")

    def test_a_second_run_in_a_folder_continues_from_the_latest_complete_checkpoint(self):
        with self.init() as ctx:
            for steps in (1, 2):
                with ctx.checkpoint.store_path({"steps_completed": steps}) as (path, uuid):
                    (path / "a").write_text(str(steps))
            with contextlib.suppress(KeyError), ctx.checkpoint.store_path({"steps_completed": 3}):
                raise KeyError
        # An incomplete line, left by a killed process, is not a complete checkpoint.
        with open(self.folder / "here/checkpoints/complete.ndjson", "ab") as file:
            file.write(b'{"uuid":"torn","mani')
        with self.init() as ctx:
            self.assertEqual((ctx.info.run, ctx.info.latest_checkpoint), (2, uuid))
            self.assertEqual(ctx.info.steps_completed, 2)
            with ctx.checkpoint.restore_path(ctx.info.latest_checkpoint) as path:
                self.assertEqual((path / "a").read_text(), "2")
            with ctx.checkpoint.store_path({"steps_completed": 4}) as (_, later):
                pass
        self.assertEqual(self.init().info.latest_checkpoint, later)

    def test_the_local_folder_comes_from_the_environment_or_is_new(self):
        os.environ["TRAINYARD_LOCAL_DIR"] = str(self.folder / "there")
        with self.init(local_dir=None) as ctx:
            self.assertEqual(ctx.info.run_dir, self.folder / "there/run-1")
        script = "import trainyard\nwith trainyard.init() as ctx: print(ctx.info.run_dir)"
        del os.environ["TRAINYARD_LOCAL_DIR"]
        found = {
            subprocess.run(
                [sys.executable, "-c", script],
                cwd=self.folder,
                env={**os.environ, "PYTHONPATH": str(SRC)},
                check=True,
                capture_output=True,
                text=True,
            ).stdout.strip()
            for _ in range(2)
        }
        self.assertEqual(len(found), 2)
        for run_dir in found:
            self.assertEqual(Path(run_dir).parents[1], self.folder.resolve() / "trainyard-local")

    def test_an_exception_in_local_mode_is_recorded_in_end_json(self):
        with contextlib.suppress(ValueError), self.init():
            raise ValueError("no")
        end = json.loads((self.folder / "here/run-1/end.json").read_text())
        self.assertEqual(end["reason"], "END_REASON_ERROR")


class Package(unittest.TestCase):
    def test_the_sdks_source_is_valid_python_3_9(self):
        import ast

        files = sorted(SRC.glob("trainyard/*.py"))
        self.assertGreater(len(files), 10)
        for file in files:
            ast.parse(file.read_text(), str(file), feature_version=(3, 9))

    def test_importing_the_sdk_imports_only_the_standard_library(self):
        script = (
            "import sys\nbefore = set(sys.modules)\nimport trainyard\n"
            "new = {name.split('.')[0] for name in set(sys.modules) - before}\n"
            "print(sorted(new - set(sys.stdlib_module_names) - {'trainyard'}))"
        )
        if not hasattr(sys, "stdlib_module_names"):
            script = script.replace("sys.stdlib_module_names", "new - {'numpy', 'torch'}")
        found = subprocess.run(
            [sys.executable, "-I", "-c", f"import sys\nsys.path.insert(0, {str(SRC)!r})\n{script}"],
            check=True,
            capture_output=True,
            text=True,
        )
        self.assertEqual(found.stdout.strip(), "[]")

    def test_every_public_name_of_the_sdk_has_a_docstring(self):
        for name in trainyard.__all__:
            if not name.startswith("__"):
                self.assertTrue(getattr(trainyard, name).__doc__, name)


if __name__ == "__main__":
    unittest.main()
