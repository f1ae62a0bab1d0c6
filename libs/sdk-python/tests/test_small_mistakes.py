"""Mistakes and limits that cause a warning or a clear error, but do not end the training."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import trainyard
from trainyard._limits import METRIC_NAMES_MAX, REPORT_BYTES_MAX
from trainyard._search_metric import SearchMetricCheck

SRC = Path(trainyard.__file__).parents[1]


class Here(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def open(self):
        with contextlib.redirect_stderr(io.StringIO()):
            return trainyard.init(local_dir=self.folder / "here")

    def run_script(self, script, *flags):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("TRAINYARD_")}
        environment = {
            **kept,
            "PYTHONPATH": str(SRC),
            "TRAINYARD_LOCAL_DIR": str(self.folder / "run"),
        }
        return subprocess.run(
            [sys.executable, *flags, "-c", textwrap.dedent(script)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=240,
        )

    def test_a_report_over_the_size_limit_is_dropped_with_one_warning(self):
        with self.open() as ctx, self.assertLogs("trainyard", "WARNING") as log:
            for step in (1, 2):
                ctx.train.report_training_metrics(step, {"text": "x" * REPORT_BYTES_MAX})
            ctx.train.report_training_metrics(3, {"loss": 0.5})
        self.assertEqual(len(log.output), 1, log.output)
        self.assertIn("'training' is left out: the report has", log.output[0])
        lines = (self.folder / "here/run-1/spool/reports.ndjson").read_text().splitlines()
        self.assertEqual([json.loads(line)["stepsCompleted"] for line in lines], [3])

    def reported(self):
        lines = (self.folder / "here/run-1/spool/reports.ndjson").read_text().splitlines()
        return [json.loads(line)["metrics"] for line in lines]

    def test_a_validation_over_the_limit_reports_its_numbers_with_one_warning(self):
        with self.open() as ctx, self.assertLogs("trainyard", "WARNING") as log:
            for step in (1, 2):
                values = {"loss": 0.5, "bad": float("nan"), "table": ["x" * 1000] * 200}
                ctx.train.report_validation_metrics(step, values)
            ctx.train.report_metrics("test", 3, {"loss": 0.5, "text": "x" * REPORT_BYTES_MAX})
        self.assertEqual(self.reported(), [{"loss": 0.5, "bad": "NaN"}] * 2)
        self.assertEqual(len(log.output), 2, log.output)
        self.assertIn("a validation is reported without 1 of its 3 metrics", log.output[0])
        self.assertIn("'test' is left out", log.output[1])

    def test_a_validation_with_too_many_numbers_reports_the_searchers_metric(self):
        many = {f"a metric with a long name of its own {n}": n for n in range(METRIC_NAMES_MAX)}
        with self.open() as ctx, self.assertLogs("trainyard", "WARNING") as log:
            ctx.train._search_metric = SearchMetricCheck("loss")
            ctx.train.report_validation_metrics(1, {**many, "loss": 0.5})
        self.assertEqual(self.reported(), [{"loss": 0.5}])
        self.assertIn(f"without {METRIC_NAMES_MAX:,} of its", log.output[0])

    def test_a_report_with_too_many_names_is_dropped(self):
        with self.open() as ctx, self.assertLogs("trainyard", "WARNING") as log:
            for count in (METRIC_NAMES_MAX + 1, METRIC_NAMES_MAX):
                ctx.train.report_training_metrics(count, {str(n): n for n in range(count)})
        self.assertEqual([len(metrics) for metrics in self.reported()], [METRIC_NAMES_MAX])
        self.assertIn("'training' is left out: the report has 4,097 metrics", log.output[0])

    def test_holes_of_a_sparse_file_are_not_written_in_the_copy(self):
        source = self.folder / "source"
        source.mkdir()
        with open(source / "model", "wb") as file:
            file.write(b"head")
            file.seek(64 * 1024 * 1024)
            file.write(b"tail")
            file.truncate(128 * 1024 * 1024)
        with self.open() as ctx:
            uuid = ctx.checkpoint.upload(source, {"steps_completed": 1})
            with ctx.checkpoint.restore_path(uuid) as path:
                stored = (path / "model").stat()
                self.assertEqual(stored.st_size, 128 * 1024 * 1024)
                self.assertLess(stored.st_blocks * 512, 1024 * 1024)
                with open(path / "model", "rb") as file:
                    self.assertEqual(file.read(4), b"head")
                    file.seek(64 * 1024 * 1024)
                    self.assertEqual(file.read(5), b"tail\0")

    def test_a_local_folder_that_cannot_be_created_is_named_in_the_error(self):
        (self.folder / "here").write_text("a file")
        with self.assertRaisesRegex(OSError, "cannot be made.*local_dir=.*TRAINYARD_LOCAL_DIR"):
            self.open()

    def test_importing_trainyard_pytorch_without_torch_names_the_missing_package(self):
        script = """
            import sys
            sys.modules["torch"] = None
            import trainyard.pytorch
        """
        said = self.run_script(script)
        self.assertEqual(said.returncode, 1)
        self.assertIn("trainyard.pytorch needs the package torch", said.stderr)
        self.assertIn("pip install torch", said.stderr)

    def end_of(self, interactive):
        script = f"""
            import sys
            import trainyard
            if {interactive}:
                sys.ps1 = "In : "
            sys.last_value = ValueError("of an earlier cell")
            trainyard.init()
        """
        self.assertEqual(self.run_script(script).returncode, 0)
        end = self.folder / "run/run-1/end.json"
        return json.loads(end.read_text())["reason"] if end.exists() else None

    def test_an_error_of_an_earlier_cell_does_not_fail_a_notebooks_run(self):
        self.assertIsNone(self.end_of(interactive=True))

    def test_an_exception_that_ends_a_script_fails_its_open_run(self):
        self.assertEqual(self.end_of(interactive=False), "END_REASON_ERROR")


if __name__ == "__main__":
    unittest.main()
