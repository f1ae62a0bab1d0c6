"""The processes of one run report and end as one run, and stop at the same batch."""

from __future__ import annotations

import unittest

from test_distributed import DistributedCase

import trainyard

REPORTS = """
    with trainyard.init(distributed=together) as ctx:
        assert ctx.distributed is together
        for step in range(1, 4):
            ctx.train.report_training_metrics(step, {"rank": rank})
            ctx.train.report_validation_metrics(step, {"rank": rank})
            ctx.train.report_progress(step / 3)
"""


class Reports(DistributedCase):
    def test_only_the_chief_reports_and_records_the_end(self):
        self.together(REPORTS, size=4, hosts=2)
        self.assertEqual(self.platform.values("training", "rank"), [0, 0, 0])
        self.assertEqual(self.platform.values("validation", "rank"), [0, 0, 0])
        self.assert_end("FINISHED")
        self.assertFalse((self.folder / "run-1" / "end.json").exists())

    def test_every_rank_reports_values_that_are_combined_over_the_ranks(self):
        script = """
            with trainyard.init(distributed=together) as ctx:
                ctx.train.report_metrics("speed", 1, {"tokens": 10 * rank}, aggregation="sum")
                ctx.train.report_validation_metrics(2, {"loss": rank}, aggregation="mean")
                ctx.train.report_training_metrics(2, {"loss": rank})
                together.barrier()
            """
        self.together(script, size=4, hosts=2)
        told = sorted(
            (report["group"], report.get("rank", 0), report.get("aggregation"), report["metrics"])
            for report in self.platform.reports.values()
        )
        self.assertEqual(
            told,
            [
                ("speed", 0, "sum", {"tokens": 0}),
                ("speed", 1, "sum", {"tokens": 10}),
                ("speed", 2, "sum", {"tokens": 20}),
                ("speed", 3, "sum", {"tokens": 30}),
                ("training", 0, None, {"loss": 0}),
                ("validation", 0, "mean", {"loss": 0}),
                ("validation", 1, "mean", {"loss": 1}),
                ("validation", 2, "mean", {"loss": 2}),
                ("validation", 3, "mean", {"loss": 3}),
            ],
        )

    def test_ranks_in_local_mode_share_one_folder(self):
        env = {"TRAINYARD_TRIAL_ID": "", "TRAINYARD_LOCAL_DIR": str(self.folder / "local")}
        _, err = self.together(REPORTS, **env)
        self.assertEqual(sum("not in a task" in text for text in err), 1, err)
        self.assertEqual([f.name for f in (self.folder / "local").iterdir()], ["run-1"])

    def test_any_rank_can_report_invalid_hyperparameters(self):
        script = """
            with trainyard.init(distributed=together) as ctx:
                if rank == 1:
                    ctx.train.report_early_exit(trainyard.EarlyExitReason.INVALID_HP)
            """
        self.together(script)
        self.assert_end("INVALID_HYPERPARAMETERS")

    def test_the_error_of_the_first_failing_rank_is_the_runs_error(self):
        script = """
            with trainyard.init(distributed=together) as ctx:
                together.barrier()
                if rank == 1:
                    raise ValueError("boom")
                together.barrier()
            """
        _, err = self.together(script, [1, 1, 1])
        self.assertIn("DistributedError", err[0])
        self.assert_end("ERROR", r"^rank 1: ValueError: boom \(<string>, line 9\)$")

    def test_an_error_about_a_lost_rank_is_replaced_by_that_ranks_error(self):
        script = """
            with trainyard.init(distributed=together) as ctx:
                if rank == 1:
                    together.close()
                    # The other ranks have recorded the loss of this one.
                    while not os.path.exists(os.environ["TRAINYARD_RUN_DIR"] + "/end.json"):
                        pass
                    raise ValueError("the cause")
                together.barrier()
            """
        self.together(script, [1, 1, 1])
        self.assert_end("ERROR", "^rank 1: ValueError: the cause")


TRAINING = """
    with trainyard.init(distributed=together) as ctx:
        for batch in range(1, 1_000_000):
            # The gathering lets ranks be as far apart as in synchronous training.
            together.gather(batch)
            if rank == 0:
                together.broadcast(batch)
            else:
                together.broadcast(None)
            if batch == 5:
                print("under way", flush=True)
            if ctx.preempt.should_preempt():
                break
        print(batch, ctx.preempt.why, flush=True)
"""


class Preemption(DistributedCase):
    def stops(self, processes, ask):
        for process in processes:
            self.assertEqual(process.stdout.readline(), "under way\n")
        ask()
        out, _ = self.finish(processes)
        self.assertEqual(len(set(out)), 1, out)
        return out[0].split()[1]

    def test_all_ranks_stop_at_the_same_batch(self):
        for hosts in (1, 2):
            processes = self.launch(TRAINING, size=4, hosts=hosts)
            self.assertEqual(
                self.stops(processes, lambda: self.platform.ask_to_stop("pause")), "pause"
            )
            self.assert_end("ACKNOWLEDGED_STOP", "^pause$")
            self.platform.stop_why = None

    def test_the_shutdown_of_one_host_stops_all_ranks(self):
        processes = self.launch(TRAINING, size=4, hosts=2)
        stop_file = self.folder / "run-1" / "stop.json"
        why = self.stops(processes, lambda: stop_file.write_text('{"why": "shutdown"}'))
        self.assertEqual(why, "shutdown")
        self.assert_end("ACKNOWLEDGED_STOP", "^shutdown$")

    def test_in_mode_chief_only_should_preempt_raises_on_other_ranks(self):
        script = """
            mode = trainyard.PreemptMode.ChiefOnly
            with trainyard.init(distributed=together, preempt_mode=mode) as ctx:
                if rank == 0:
                    assert not ctx.preempt.should_preempt()
                else:
                    try:
                        ctx.preempt.should_preempt()
                    except RuntimeError as error:
                        assert "call it on rank 0" in str(error)
                together.barrier()
            """
        self.together(script)

    def test_in_mode_workers_ask_platform_each_rank_sees_the_stop(self):
        self.assertIs(
            trainyard.PreemptMode.WorkersAskMaster, trainyard.PreemptMode.WorkersAskPlatform
        )
        script = """
            mode = trainyard.PreemptMode.WorkersAskPlatform
            with trainyard.init(distributed=together, preempt_mode=mode) as ctx:
                while not ctx.preempt.should_preempt():
                    pass
                print(ctx.preempt.why)
            """
        self.platform.ask_to_stop("cancel")
        out, _ = self.together(script)
        self.assertEqual(out, ["cancel\n"] * 3)
        self.assert_end("ACKNOWLEDGED_STOP", "^cancel$")


if __name__ == "__main__":
    unittest.main()
