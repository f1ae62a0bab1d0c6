"""A Core API script of Determined runs after its imports are changed."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import trainyard as det

SRC = Path(det.__file__).parents[1]


class Ported(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        kept = {k: v for k, v in os.environ.items() if not k.startswith("TRAINYARD_")}
        environment = {**kept, "TRAINYARD_LOCAL_DIR": str(self.folder / "here")}
        patch = mock.patch.dict(os.environ, environment, clear=True)
        patch.start()
        self.addCleanup(patch.stop)
        self.said = io.StringIO()
        self.enter_quiet = contextlib.redirect_stderr(self.said)
        self.enter_quiet.__enter__()
        self.addCleanup(self.enter_quiet.__exit__, None, None, None)

    def end(self):
        return json.loads((self.folder / "here/run-1/end.json").read_text())

    def reports(self):
        lines = (self.folder / "here/run-1/spool/reports.ndjson").read_text().splitlines()
        return [json.loads(line) for line in lines]


class Core(Ported):
    def test_det_core_has_the_names_of_determineds_core_api(self):
        with det.core.init(preempt_mode=det.core.PreemptMode.ChiefOnly) as core_context:
            self.assertIsInstance(core_context, det.core.Context)
            core_context.train.report_validation_metrics(steps_completed=1, metrics={"x": 1})
            core_context.train.set_status("training")
            path = core_context.train.get_tensorboard_path()
            self.assertEqual(path, core_context.tensorboard.path)
            core_context.train.upload_tensorboard_files()
            core_context.train.report_early_exit(det.core.EarlyExitReason.INVALID_HP)
        self.assertIs(det.core.DistributedContext, det.DistributedContext)
        self.assertIs(det.core.DownloadMode, det.DownloadMode)
        self.assertTrue(list(path.iterdir()), "TensorboardMode.AUTO copies the metrics")

    def test_tensorboard_mode_manual_writes_no_metrics(self):
        with det.core.init(tensorboard_mode=det.core.TensorboardMode.MANUAL) as core_context:
            core_context.train.report_validation_metrics(steps_completed=1, metrics={"x": 1})
            self.assertEqual(list(core_context.train.get_tensorboard_path().iterdir()), [])

    def test_core_init_refuses_checkpoint_storage(self):
        with self.assertRaisesRegex(ValueError, "checkpoint_storage.*in the configuration"):
            det.core.init(checkpoint_storage="s3://bucket")

    def test_log_format_equals_determineds(self):
        import logging

        made = logging.makeLogRecord({"levelname": "INFO", "process": 7, "name": "a", "msg": "b"})
        self.assertEqual(logging.Formatter(det.LOG_FORMAT).format(made), "INFO: [7] a: b")

    def test_distributed_context_accepts_chief_ip(self):
        place = {
            "rank": 0,
            "size": 1,
            "local_rank": 0,
            "local_size": 1,
            "cross_rank": 0,
            "cross_size": 1,
        }
        det.core.DistributedContext(chief_ip="10.0.0.1", **place).close()


class InvalidHP(Ported):
    def test_invalid_hp_ends_the_trial_as_invalid_and_the_script_with_exit_code_0(self):
        with self.assertRaises(SystemExit) as end:
            with det.core.init():
                raise det.InvalidHP("the layer has 0 units")
        self.assertEqual(end.exception.code, 0)
        self.assertEqual(self.end()["reason"], "END_REASON_INVALID_HYPERPARAMETERS")
        self.assertIn("the layer has 0 units", self.end()["message"])
        self.assertIn("the layer has 0 units", self.said.getvalue())


class Searcher(Ported):
    def run_operations(self, config):
        with det.init(local_config=config) as core_context, warnings.catch_warnings(record=True):
            lengths = []
            for op in core_context.searcher.operations():
                lengths.append(op.length)
                op.report_progress(op.length / 2)
                op.report_completed(0.5)
        return lengths

    def test_a_searcher_has_one_operation_with_the_configured_length(self):
        for searcher, length in (
            ({"max_length": 100}, 100),
            ({"max_length": {"epochs": 3}}, 3),
            ({"max_time": 50, "time_metric": "batches"}, 50),
            ({}, 1),
        ):
            with self.subTest(searcher=searcher):
                self.assertEqual(self.run_operations({"searcher": searcher}), [length])
        self.assertEqual(self.reports()[0]["metrics"], {"progress": 0.5})

    def test_a_searcher_operation_has_the_configured_unit(self):
        for searcher, unit in (
            ({"max_length": {"epochs": 3}}, "EPOCHS"),
            ({"max_length": 3}, None),
        ):
            with det.init(local_config={"searcher": searcher}) as core_context:
                found = core_context.searcher.get_configured_units()
                self.assertEqual(found.value if found else None, unit)
                core_context.searcher.acknowledge_out_of_ops()

    def test_an_operation_must_be_completed_exactly_once(self):
        with det.init() as core_context:
            with self.assertRaisesRegex(RuntimeError, "op.report_completed.*once the training"):
                list(core_context.searcher.operations())
            op = next(core_context.searcher.operations())
            op.report_completed(1)
            with self.assertRaisesRegex(RuntimeError, "twice"):
                op.report_completed(1)


class Elsewhere(Ported):
    def test_a_missing_name_raises_and_names_its_replacement(self):
        with det.init() as core_context:
            for owner, name, remedy in (
                (core_context, "experimental", "ctx.train"),
                (core_context.train, "get_experiment_best_validation", "yard experiment describe"),
                (core_context.train, "set_metadata", "report_metrics"),
                (core_context.train, "get_metadata", "report_metrics"),
                (core_context.checkpoint, "delete", "checkpoint_storage"),
            ):
                with self.subTest(name=name):
                    with self.assertRaises(AttributeError) as caught:
                        getattr(owner, name)
                    said = str(caught.exception)
                    self.assertIn(name, said)
                    self.assertIn(remedy, said)
                    self.assertNotIn("\n", said)
            with self.assertRaisesRegex(AttributeError, "no attribute 'nonsense'"):
                core_context.nonsense  # pyright: ignore[reportAttributeAccessIssue] — it is absent

    def test_missing_constructors_of_distributed_context_name_their_replacement(self):
        for name in ("from_deepspeed", "from_horovod"):
            with self.assertRaisesRegex(AttributeError, f"{name}.*from_torch_distributed"):
                getattr(det.core.DistributedContext, name)()

    def test_checkpoint_and_report_methods_accept_determineds_arguments(self):
        with det.init() as core_context:
            checkpoint: Any = core_context.checkpoint
            with checkpoint.store_path({"steps_completed": 1}) as (path, uuid):
                (path / "model.txt").write_text("weights")
            with checkpoint.restore_path(storage_id=uuid, selector=lambda _: True) as folder:
                self.assertEqual((folder / "model.txt").read_text(), "weights")
            checkpoint.download(storage_id=uuid, ckpt_dir=self.folder / "copy")
            self.assertTrue((self.folder / "copy/model.txt").exists())
            metadata = checkpoint.get_metadata(storage_id=uuid)
            self.assertEqual(metadata["steps_completed"], 1)
            with self.assertRaisesRegex(TypeError, "uuid and storage_id"):
                checkpoint.get_metadata(uuid, storage_id=uuid)
            with self.assertLogs("trainyard", "WARNING") as log:
                for step in (1, 2):
                    core_context.train.report_training_metrics(
                        steps_completed=step, metrics={"loss": 1}, batch_metrics=[{"loss": 1}]
                    )
            warned = [line for line in log.output if "batch_metrics" in line]
            self.assertEqual(len(warned), 1, log.output)

    def test_missing_names_of_the_package_name_their_replacement(self):
        for name, remedy in (("core_v2", "trainyard.init"), ("ExperimentConfig", "info.config")):
            with self.subTest(name=name):
                with self.assertRaisesRegex(
                    ImportError, f"{name}, which Determined has: .*{remedy}"
                ):
                    exec(f"from trainyard import {name}")
        with self.assertRaisesRegex(AttributeError, "no attribute 'nonsense'"):
            det.nonsense  # pyright: ignore[reportAttributeAccessIssue] — it is absent

    def test_missing_modules_name_their_replacement(self):
        for module, remedy in (
            ("trainyard.experimental", "trainyard.client"),
            ("trainyard.experimental.client", "trainyard.client"),
            ("trainyard.keras", "trainyard.init"),
            ("trainyard.util", "standard library"),
            ("trainyard.common", "trainyard.client"),
            ("trainyard.common.api", "trainyard.client"),
            ("trainyard.launch.horovod", "trainyard.launch.torch"),
            ("trainyard.launch.tensorflow", "trainyard.launch.torch"),
        ):
            with self.subTest(module=module):
                with self.assertRaisesRegex(ImportError, remedy):
                    importlib.import_module(module)


class Launch(Ported):
    def run_module(self, *arguments):
        environment = {**os.environ, "PYTHONPATH": str(SRC)}
        return subprocess.run(
            [sys.executable, "-m", *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=240,
        )

    def test_launch_torch_distributed_starts_the_processes(self):
        code = "import os; print(os.environ['WORLD_SIZE'])"
        said = self.run_module(
            "trainyard.launch.torch_distributed", "--nproc-per-node=2", sys.executable, "-c", code
        )
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertEqual(sorted(said.stdout.split("\n"))[1:], ["[rank=0] 2", "[rank=1] 2"])

    def test_launch_deepspeed_starts_the_processes(self):
        code = "import os; print(os.environ['WORLD_SIZE'])"
        said = self.run_module(
            "trainyard.launch.deepspeed", "--nproc-per-node=1", sys.executable, "-c", code
        )
        self.assertEqual(said.returncode, 0, said.stderr)

    def test_a_missing_launcher_names_its_replacement(self):
        said = self.run_module("trainyard.launch.horovod", "train.py")
        self.assertNotEqual(said.returncode, 0)
        self.assertIn("trainyard.launch.torch starts the processes", said.stderr)

    def test_wrap_rank_prefixes_lines_and_returns_the_exit_code(self):
        code = "import sys; print('a'); print('b', file=sys.stderr); sys.exit(3)"
        said = self.run_module("trainyard.launch.wrap_rank", "1", "--", sys.executable, "-c", code)
        self.assertEqual((said.returncode, said.stdout), (3, "[rank=1] a\n"))
        self.assertEqual(said.stderr, "[rank=1] b\n")

    def test_wrap_rank_reads_the_rank_from_a_variable(self):
        with mock.patch.dict(os.environ, {"MY_RANK": "4"}):
            said = self.run_module(
                "trainyard.launch.wrap_rank", "OTHER,MY_RANK", sys.executable, "-c", "print(1)"
            )
        self.assertEqual(said.stdout, "[rank=4] 1\n")
        said = self.run_module("trainyard.launch.wrap_rank", "OTHER", "true")
        self.assertEqual(said.returncode, 2)
        self.assertIn("OTHER", said.stderr)


if __name__ == "__main__":
    unittest.main()
