"""Whole scripts that run while the platform is unavailable, or that are killed: training continues, and no report
is lost.
"""

from __future__ import annotations

import random
import signal
import unittest
from pathlib import Path

from fake_platform import HANG, Answer, problem, wait_until
from stopwatch import Stopwatch
from test_context import ContextCase


class WithoutThePlatform(ContextCase):
    TRAIN = """
        import time, trainyard
        started = time.monotonic()
        with trainyard.init() as ctx:
            for step in range(1000):
                ctx.train.report_training_metrics(step, {"loss": 0.5})
                assert not ctx.preempt.should_preempt()
            training_s = time.monotonic() - started
        print(training_s, time.monotonic() - started)
        """

    def train(self):
        out, err = self.run_script(self.TRAIN)
        training_s, all_s = map(float, out.split())
        self.assertLess(training_s, 3.0)
        # The end of the run waits for a limited time.
        self.assertLess(all_s, training_s + 8.0)
        self.assertEqual(len(self.spooled()), 1000)
        self.assert_end("FINISHED")
        return err

    def test_training_continues_while_the_platform_is_down(self):
        self.platform.stop()
        err = self.train()
        self.assertEqual(err.count("trainyard WARNING: the metrics service cannot accept"), 1, err)
        self.assertIn("nothing is lost", err)
        # That the agent delivers the rest is usual, and no line has a path of the host.
        self.assertNotIn("the agent delivers", err)
        self.assertNotIn(".ndjson", err)

    def test_training_continues_while_the_platform_does_not_answer(self):
        self.platform.faults = lambda request: HANG
        self.train()

    def test_training_continues_while_the_platform_refuses_all_requests(self):
        self.platform.faults = lambda request: problem(401, "token_expired", "expired")
        self.train()

    def test_storing_checkpoints_is_fast_while_the_platform_is_down(self):
        self.platform.stop()
        self.platform.storage.mkdir()
        out, err = self.run_script(
            """
            import os, sys, threading, time, trainyard
            sys.path.append(os.environ["TESTS"])
            from stopwatch import Stopwatch
            on_disk = 0.0
            sync = os.fsync
            def timed(file):
                global on_disk
                started = time.monotonic()
                sync(file)
                if threading.current_thread() is threading.main_thread():
                    on_disk += time.monotonic() - started
            os.fsync = timed
            with trainyard.init() as ctx:
                took = []
                for step in range(1, 21):
                    watch, on_disk = Stopwatch(), 0.0
                    with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _uuid):
                        (path / "model").write_text(str(step))
                    ctx.train.report_training_metrics(step, {"loss": 0.5})
                    took.append(watch.seconds() - on_disk)
                print(*sorted(took))
            """,
            TESTS=str(Path(__file__).parent),
        )
        # The first store waits two seconds; after it the outage is known. The time of fsync on a busy disk is not
        # counted.
        took = [float(one) for one in out.split()]
        self.assertLess(took[-1], 4.0)
        self.assertLess(took[len(took) // 2], 0.2, took)
        self.assertLess(sum(one > 1.5 for one in took), 2, took)
        self.assertEqual(len(list((self.run_dir / "spool/checkpoints").glob("*.json"))), 20)
        self.assertEqual(err.count("training continues"), 1, err)
        self.assert_end("FINISHED")

    def test_reports_are_delivered_when_the_service_returns_before_the_end(self):
        self.platform.faults = lambda request: Answer(503) if request.number < 4 else None
        self.train()
        self.assertEqual(len(self.platform.reports), 1000)


class Killed(ContextCase):
    SCRIPT = """
        import os, trainyard
        with trainyard.init() as ctx:
            step = 0
            while True:
                step += 1
                ctx.train.report_training_metrics(step, {"loss": 0.5})
                os.write(1, f"{step}\\n".encode())
        """

    def test_a_report_that_returned_survives_sigkill_and_sigterm(self):
        draw = random.Random(7)
        for number, kind in enumerate([signal.SIGKILL, signal.SIGTERM, signal.SIGKILL]):
            self.run_dir = self.folder / f"run-{number}"
            process = self.start(self.SCRIPT)
            for _ in range(draw.randrange(5, 300)):
                last = process.stdout.readline()
            process.send_signal(kind)
            lines = [last, *process.stdout.readlines()]
            self.assertEqual(process.wait(240), -kind)
            returned = max(int(line) for line in lines if line.endswith("\n"))
            steps = [r["stepsCompleted"] for r in self.spooled()]
            self.assertEqual(steps[:returned], list(range(1, returned + 1)))
            self.assertLessEqual(len(steps), returned + 1)
            # No end record is written: the agent sees the signal in the exit status.
            self.assertFalse((self.run_dir / "end.json").exists())

    def test_a_script_that_handles_sigterm_ends_as_finished(self):
        process = self.start(
            """
            import os, signal, sys, trainyard
            def stop(_signal, _frame):
                sys.exit(0)
            with trainyard.init() as ctx:
                signal.signal(signal.SIGTERM, stop)
                ctx.train.report_training_metrics(1, {})
                os.write(1, b"ready\\n")
                signal.pause()
            """
        )
        process.stdout.readline()
        process.terminate()
        self.assertEqual(process.wait(240), 0)
        self.assert_end("FINISHED")
        self.assertEqual(len(self.platform.reports), 1)

    def test_ctrl_c_ends_the_run_as_error_and_reports_are_delivered(self):
        process = self.start(
            """
            import os, signal, trainyard
            signal.signal(signal.SIGINT, signal.default_int_handler)
            with trainyard.init() as ctx:
                ctx.train.report_training_metrics(1, {})
                os.write(1, b"ready\\n")
                signal.pause()
            """
        )
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(240), -signal.SIGINT)
        self.assert_end("ERROR", "KeyboardInterrupt")
        self.assertEqual(len(self.platform.reports), 1)

    def test_a_stop_request_reaches_a_training_loop_within_a_second(self):
        process = self.start(
            """
            import os, time, trainyard
            with trainyard.init() as ctx:
                os.write(1, b"ready\\n")
                while not ctx.preempt.should_preempt():
                    sum(range(1000))
                os.write(1, b"seen\\n")
            """
        )
        process.stdout.readline()
        self.platform.wait_for(lambda: any("signals" in r.path for r in self.platform.requests))
        asked = Stopwatch()
        self.platform.ask_to_stop("search_stop")
        self.assertEqual(process.stdout.readline(), "seen\n")
        self.assertLess(asked.seconds(), 1.0)
        wait_until(lambda: process.poll() is not None)
        self.assert_end("ACKNOWLEDGED_STOP", "search_stop")


class WrongUse(ContextCase):
    def assert_init_fails(self, message, **env):
        script = """
            import trainyard
            try:
                trainyard.init()
            except trainyard.NotInTaskError as error:
                print(error)
            """
        out, _ = self.run_script(script, **env)
        self.assertIn(message, out)
        self.assertNotIn("run-token", out)

    def test_init_names_the_variable_that_is_missing_or_invalid(self):
        self.assert_init_fails("TRAINYARD_TOKEN is not", TRAINYARD_TOKEN="")
        self.assert_init_fails("TRAINYARD_RUN_DIR is not", TRAINYARD_RUN_DIR="")
        self.assert_init_fails("TRAINYARD_RUN must be a whole number", TRAINYARD_RUN="two")
        self.assert_init_fails("TRAINYARD_HPARAMS must be a JSON object", TRAINYARD_HPARAMS="[1]")
        self.assert_init_fails("must be a count of steps", TRAINYARD_STEPS_COMPLETED="many")
        self.assert_init_fails("is not an http or https address", TRAINYARD_URL="ftp://x")

    def test_invalid_arguments_raise_in_the_reporting_call(self):
        self.run_script(
            """
            import trainyard
            def refused(kind, call, *arguments):
                try:
                    call(*arguments)
                except kind:
                    return
                raise AssertionError(f"{call} took {arguments}")
            with trainyard.init() as ctx:
                train = ctx.train
                refused(TypeError, train.report_training_metrics, "1", {})
                refused(ValueError, train.report_training_metrics, -1, {})
                refused(TypeError, train.report_training_metrics, 1, {"a": object()})
                refused(TypeError, train.report_training_metrics, 1, None)
                refused(ValueError, train.report_metrics, "", 1, {})
                refused(ValueError, train.report_metrics, "progress", 1, {})
                refused(TypeError, train.report_metrics, None, 1, {})
                for value in (-0.1, 1.1, float("nan"), float("inf")):
                    refused(ValueError, train.report_progress, value)
                for value in ("0.5", None, True, [1]):
                    refused(TypeError, train.report_progress, value)
                refused(TypeError, train.report_early_exit, "INVALID_HP")
            """
        )
        self.assertEqual(self.spooled(), [])


if __name__ == "__main__":
    unittest.main()
