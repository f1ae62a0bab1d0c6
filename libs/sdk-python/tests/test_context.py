"""Whole scripts, run like by the agent: end.json has the reason of their end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import unittest
from pathlib import Path

from test_sender import SenderCase

import trainyard
from trainyard import _spool

SRC = Path(trainyard.__file__).parents[1]


class ContextCase(SenderCase):
    def setUp(self):
        super().setUp()
        self.run_dir = self.folder / "run"
        self.platform.storage = self.folder / "storage"

    def start(self, script, **env):
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", textwrap.dedent(script)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(SRC), **self.platform.env(self.run_dir, **env)},
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def run_script(self, script, code=0, **env):
        process = self.start(script, **env)
        out, err = process.communicate(timeout=240)
        self.assertEqual(process.returncode, code, err)
        return out, err

    def end(self):
        return json.loads((self.run_dir / "end.json").read_text())

    def assert_end(self, reason, message=".*"):
        end = self.end()
        self.assertEqual(set(end), {"reason", "message"})
        self.assertEqual(end["reason"], f"END_REASON_{reason}")
        self.assertRegex(end["message"], message)

    def spooled(self):
        lines = (self.run_dir / "spool" / _spool.REPORTS).read_bytes().split(b"\n")
        return [r for r in map(_spool.parse_line, lines) if r is not None]


class TooLarge(ContextCase):
    def test_reports_over_the_limit_are_dropped_with_one_warning_and_the_training_continues(self):
        _, err = self.run_script("""
            import trainyard
            with trainyard.init() as ctx:
                for step in range(1, 4):
                    ctx.train.report_training_metrics(step, {"image": [0.5] * 100_000})
                ctx.train.report_training_metrics(4, {"loss": 1.0, "tags": ["a", {"b": True}]})
        """)
        self.assertEqual([report["stepsCompleted"] for report in self.spooled()], [4])
        self.assertEqual(err.count("is left out"), 1, err)
        self.assertIn("at most 131,072", err)


class Alerts(ContextCase):
    def test_alerts_are_reports_and_only_the_first_hundred_of_a_run_are_sent(self):
        _, err = self.run_script("""
            import trainyard
            with trainyard.init() as ctx:
                ctx.alert("loss is NaN", "at step 3", level="error")
                for n in range(105):
                    ctx.alert(f"{n} " + "x" * 300)
        """)
        alerts = [report for report in self.spooled() if report["group"] == "alert"]
        self.assertEqual(
            alerts[0]["metrics"], {"title": "loss is NaN", "text": "at step 3", "level": "error"}
        )
        self.assertEqual(len(alerts), 100)
        self.assertEqual(len(alerts[1]["metrics"]["title"]), 255)
        self.assertEqual(err.count("at most 100 alerts"), 1, err)

    def test_bad_alerts_are_refused_in_the_script(self):
        self.run_script("""
            import trainyard
            with trainyard.init() as ctx:
                for bad in (("",), ("a", "", "fatal"), ("a", 1)):
                    try:
                        ctx.alert(*bad)
                    except (TypeError, ValueError):
                        continue
                    raise AssertionError(bad)
        """)
        self.assertEqual(self.spooled(), [])


class Ends(ContextCase):
    def test_a_script_that_completes_delivers_its_reports_and_ends_as_finished(self):
        out, err = self.run_script(
            """
            import trainyard
            with trainyard.init() as ctx:
                for step in range(1, 11):
                    ctx.train.report_training_metrics(step, {"loss": 1 / step})
                    ctx.train.report_progress(step / 10)
                    assert not ctx.preempt.should_preempt()
                ctx.train.report_validation_metrics(10, {"accuracy": float("nan")})
            """
        )
        self.assertEqual((out, err), ("", ""))
        self.assert_end("FINISHED", "^$")
        # All reports were delivered before the end, without the agent.
        self.assertEqual(list(self.platform.reports.values()), self.spooled())
        self.assertEqual(
            self.platform.values("progress", "progress"), [n / 10 for n in range(1, 11)]
        )
        self.assertEqual(self.platform.values("validation", "accuracy"), ["NaN"])

    def test_info_has_the_values_of_the_environment(self):
        out, _ = self.run_script(
            """
            import json, random, trainyard
            random.seed(7)
            first = random.random()
            random.seed(7)
            with trainyard.init() as ctx:
                info = ctx.info
                print(json.dumps([info.experiment_id, info.trial_id, info.run, info.run_id,
                    info.trial_seed, info.hparams, info.config, info.search_needs_metric,
                    info.latest_checkpoint, info.steps_completed, info.slots, info.rank, info.nnodes, info.master_addr,
                    info.master_port, info.local, str(info.run_dir)]))
                assert "token" not in repr(info)
            # The SDK does not use the script's random generators.
            assert random.random() == first
            """,
            TRAINYARD_SEARCH_NEEDS_METRIC="1",
            TRAINYARD_LATEST_CHECKPOINT="c0ffee",
            TRAINYARD_STEPS_COMPLETED="40",
        )
        self.assertEqual(
            json.loads(out),
            [
                12,
                "12.3",
                2,
                "12.3#2",
                4294967295,
                {"lr": 0.1, "model": {"depth": 3}},
                {"name": "test"},
                True,
                "c0ffee",
                40,
                ["0", "1"],
                0,
                1,
                "127.0.0.1",
                29500,
                False,
                str(self.run_dir),
            ],
        )

    def test_an_uncaught_exception_ends_the_run_as_error(self):
        _, err = self.run_script(
            """
            import trainyard
            with trainyard.init() as ctx:
                ctx.train.report_training_metrics(1, {})
                raise ValueError("the loss is \\ud800 é")
            """,
            code=1,
        )
        self.assertIn("Traceback", err)
        self.assert_end("ERROR", r"^ValueError: the loss is .* é \(<string>, line 5\)$")
        self.assertEqual(len(self.platform.reports), 1)

    def test_an_exit_code_other_than_zero_ends_the_run_as_error(self):
        script = "import sys, trainyard\nwith trainyard.init():\n    sys.exit({})\n"
        for value, code, reason in (
            ("", 0, "FINISHED"),
            ("0", 0, "FINISHED"),
            ("3", 3, "ERROR"),
            ("'no data'", 1, "ERROR"),
        ):
            self.run_dir = self.folder / f"run-{value}"
            self.run_script(script.format(value), code=code)
            self.assert_end(reason, "sys.exit" if code else "^$")

    def test_an_acknowledged_stop_is_recorded_in_end_json(self):
        self.platform.ask_to_stop("pause")
        self.run_script(
            """
            import time, trainyard
            with trainyard.init() as ctx:
                while not ctx.preempt.should_preempt():
                    time.sleep(0.01)
                assert ctx.preempt.why == "pause"
                with ctx.checkpoint.store_path({"steps_completed": 3}) as (path, uuid):
                    (path / "a").write_text("1")
            """
        )
        self.assert_end("ACKNOWLEDGED_STOP", "pause")
        self.assertEqual([c["state"] for c in self.platform.checkpoints.values()], ["COMPLETED"])

    def test_a_stop_seen_without_auto_ack_is_not_acknowledged(self):
        self.platform.ask_to_stop("pause")
        self.run_script(
            """
            import time, trainyard
            with trainyard.init() as ctx:
                while not ctx.preempt.should_preempt(auto_ack=False):
                    time.sleep(0.01)
            """
        )
        self.assert_end("FINISHED")

    def test_an_acknowledged_stop_survives_os_exit(self):
        self.platform.ask_to_stop("preempted")
        self.run_script(
            """
            import os, time, trainyard
            ctx = trainyard.init()
            while not ctx.preempt.should_preempt():
                time.sleep(0.01)
            os._exit(0)
            """
        )
        self.assert_end("ACKNOWLEDGED_STOP", "preempted")

    def test_an_error_after_an_acknowledged_stop_ends_the_run_as_error(self):
        self.platform.ask_to_stop("pause")
        self.run_script(
            """
            import time, trainyard
            with trainyard.init() as ctx:
                while not ctx.preempt.should_preempt():
                    time.sleep(0.01)
                raise OSError("the disk is gone")
            """,
            code=1,
        )
        self.assert_end("ERROR", "the disk is gone")

    def test_invalid_hyperparameters_remain_the_reason_after_a_later_error(self):
        self.run_script(
            """
            import trainyard
            with trainyard.init() as ctx:
                ctx.train.report_early_exit(trainyard.EarlyExitReason.INVALID_HP)
                raise RuntimeError("out of memory")
            """,
            code=1,
        )
        self.assert_end("INVALID_HYPERPARAMETERS")

    def test_a_context_that_is_left_open_delivers_its_reports_at_exit(self):
        self.run_script(
            """
            import trainyard
            ctx = trainyard.init()
            ctx.train.report_training_metrics(1, {})
            """
        )
        self.assertEqual(len(self.platform.reports), 1)
        # No end record is written: the exit code is all that is known.
        self.assertFalse((self.run_dir / "end.json").exists())
        self.run_script("import trainyard\nctx = trainyard.init()\nraise KeyError('lost')", code=1)
        self.assert_end("ERROR", "KeyError: 'lost'")

    def test_close_ends_a_context_that_was_opened_without_with(self):
        self.run_script(
            """
            import trainyard
            ctx = trainyard.init()
            ctx.close()
            ctx.close()
            try:
                ctx.train.report_training_metrics(1, {})
            except RuntimeError as error:
                assert "closed" in str(error)
            else:
                raise AssertionError("a report after the end was taken")
            """
        )
        self.assert_end("FINISHED")

    def test_a_forked_child_that_leaves_the_block_does_not_end_the_run(self):
        self.run_script(
            """
            import os, sys, trainyard
            with trainyard.init() as ctx:
                pid = os.fork()
                if pid == 0:
                    ctx.train.report_training_metrics(1, {"from": "child"})
                    sys.exit(5)
                assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5
                assert not os.path.exists(ctx.info.run_dir / "end.json")
                ctx.train.report_training_metrics(2, {"from": "parent"})
            """
        )
        self.assert_end("FINISHED")
        self.assertEqual(self.platform.values("training", "from"), ["child", "parent"])

    def test_multiprocessing_workers_can_report(self):
        script = self.folder / "workers.py"
        script.write_text(
            textwrap.dedent(
                """
                import multiprocessing, sys, trainyard
                def work(n):
                    ctx.train.report_metrics("workers", n, {"n": n})
                if __name__ == "__main__":
                    with trainyard.init() as ctx:
                        with multiprocessing.get_context("fork").Pool(3) as pool:
                            pool.map(work, range(30))
                """
            )
        )
        self.run_script(f"import runpy\nrunpy.run_path({str(script)!r}, run_name='__main__')\n")
        self.assertEqual(sorted(self.platform.values("workers", "n")), list(range(30)))

    def test_several_processes_of_a_node_report_without_losses(self):
        script = """
            import sys, trainyard
            with trainyard.init() as ctx:
                for n in range(100):
                    ctx.train.report_metrics("node", n, {"n": n})
            """
        processes = [self.start(script, TRAINYARD_NODE_RANK="1") for _ in range(3)]
        for process in processes:
            _, err = process.communicate(timeout=240)
            self.assertEqual(process.returncode, 0, err)
        self.assertEqual(len(self.spooled()), 300)
        self.assertEqual({r["key"] for r in self.spooled()}, set(self.platform.reports))
        self.assertTrue(all(key.startswith("1-") for key in self.platform.reports))


if __name__ == "__main__":
    unittest.main()
