"""The trainer's reports, validations, checkpoints and end, and its continuation."""

from __future__ import annotations

import contextlib
import io
import os
import unittest
from unittest import mock

import torch
from training import LineTrial, TrainerCase

import trainyard
from trainyard import pytorch

StepMode = pytorch.LRScheduler.StepMode


class Periods(TrainerCase):
    def steps(self, group, name="a"):
        return sorted(self.reports(name, group))

    def test_periods_in_batches_are_due_at_their_multiples(self):
        self.train(
            max_length=pytorch.Batch(10),
            validation_period=pytorch.Batch(4),
            checkpoint_period=pytorch.Batch(3),
            checkpoint_policy="none",
        )
        self.assertEqual(self.steps("training"), [3, 6, 9, 10])
        self.assertEqual(self.steps("validation"), [4, 8, 10])
        self.assertEqual(self.checkpoints(), [3, 6, 9, 10])

    def test_periods_in_epochs_are_due_at_the_ends_of_epochs(self):
        trial = self.train(
            max_length=pytorch.Epoch(3),
            reporting_period=pytorch.Epoch(1),
            validation_period=pytorch.Epoch(2),
            checkpoint_period=pytorch.Epoch(3),
            checkpoint_policy="none",
        )
        self.assertEqual(self.steps("training"), [10, 20, 30])
        self.assertEqual(self.steps("validation"), [20, 30])
        self.assertEqual(self.checkpoints(), [30])
        self.assertEqual(trial.seen[10], (1, 10))
        self.assertEqual(self.reports("a", "validation")[20]["epochs"], 2)

    def test_each_report_prints_one_line(self):
        self.train(max_length=pytorch.Batch(10), reporting_period=pytorch.Batch(5))
        lines = self.printed.getvalue().splitlines()
        self.assertEqual(
            [line.split(" ", 5)[:5] for line in lines],
            [
                ["batch", "5,", "epoch", "0.5:", "training"],
                ["batch", "10,", "epoch", "1:", "training"],
                ["batch", "10,", "epoch", "1:", "validation"],
            ],
        )
        self.assertRegex(lines[0], r"training loss=[0-9.e-]+$")

    def test_periods_in_seconds_are_due_by_the_clock(self):
        with mock.patch("trainyard.pytorch._coordinator.time") as time:
            time.monotonic.side_effect = range(1000)
            self.train(max_length=pytorch.Batch(6), validation_period=pytorch.Second(0.5))
        self.assertEqual(self.steps("validation"), [1, 2, 3, 4, 5, 6])
        trial = self.train(name="b", max_length=pytorch.Second(0.01))
        self.assertGreater(len(trial.seen), 0)

    def test_checkpoint_policies_select_the_validations_with_a_checkpoint(self):
        config = {"searcher": {"metric": "error", "smaller_is_better": True}}
        errors = iter([5.0, 4.0, 4.5, 3.0, 3.5])

        class Scripted(LineTrial):
            def evaluate_full_dataset(self, data_loader):
                return {"error": next(errors)}

            evaluate_batch = pytorch.PyTorchTrial.evaluate_batch

        self.train(
            Scripted,
            init={"exp_conf": config},
            max_length=pytorch.Batch(5),
            validation_period=pytorch.Batch(1),
        )
        self.assertEqual(self.checkpoints(), [1, 2, 4, 5])
        self.train(name="b", validation_period=pytorch.Batch(4), checkpoint_policy="all")
        self.assertEqual(self.checkpoints("b"), [4, 8, 10])
        self.train(name="c", validation_period=pytorch.Batch(4), checkpoint_policy="none")
        self.assertEqual(self.checkpoints("c"), [10])

    def test_missing_arguments_of_fit_come_from_the_configuration(self):
        config = {
            "searcher": {"name": "single", "metric": "error", "max_time": 8},
            "min_validation_period": {"batches": 4},
            "min_checkpoint_period": {"epochs": 0},
        }
        self.train(init={"exp_conf": config}, max_length=None)
        self.assertEqual(self.steps("validation"), [4, 8])
        for policy, stored in (("all", [4, 8]), ("none", [8])):
            given = {**config, "checkpoint_policy": policy}
            self.train(name=policy, init={"exp_conf": given}, max_length=None)
            self.assertEqual(self.checkpoints(policy), stored)
        config = {"searcher": {"max_length": {"epochs": 1}}}
        self.train(name="b", init={"exp_conf": config}, max_length=None)
        self.assertEqual(self.steps("validation", "b"), [10])

    def test_test_mode_trains_and_validates_one_batch(self):
        trial = self.train(max_length=pytorch.Epoch(100), test_mode=True)
        self.assertEqual(trial.seen, [(0, 0)])
        self.assertEqual(self.steps("validation"), [1])
        self.assertEqual(self.checkpoints(), [1])

    def test_step_zero_validation_validates_before_the_first_batch(self):
        self.train(step_zero_validation=True)
        self.assertEqual(self.steps("validation"), [0, 10])

    def test_progress_is_reported_with_the_metrics(self):
        self.train(max_length=pytorch.Batch(6))
        found = [metrics["progress"] for metrics in self.reports("a", "progress").values()]
        self.assertEqual(found, [0.5, 1.0])


class Restarts(TrainerCase):
    def test_a_completed_training_is_not_trained_further(self):
        self.train()
        trial = self.train()
        self.assertEqual(trial.seen, [])
        self.assertEqual(self.checkpoints(), [10])

    def test_a_longer_training_continues_from_the_checkpoint(self):
        self.train(max_length=pytorch.Batch(4))
        trial = self.train(max_length=pytorch.Batch(6))
        self.assertEqual([batch for _, batch in trial.seen], [4, 5])
        self.assertEqual(trial.context.get_initial_batch(), 4)

    def test_a_second_fit_continues_the_training(self):
        whole = self.train()
        os.environ["TRAINYARD_LOCAL_DIR"] = str(self.folder / "b")
        with contextlib.redirect_stderr(io.StringIO()), pytorch.init() as context:
            trial = LineTrial(context)
            trainer = pytorch.Trainer(trial, context)
            trainer.fit(max_length=pytorch.Batch(4))
            trainer.fit(max_length=pytorch.Batch(10))
        self.assert_same_weights(whole.model, trial.model)

    def test_a_stop_request_of_the_platform_stores_a_checkpoint(self):
        whole = self.train()
        asked = iter([False, False, True])
        with mock.patch.object(trainyard.PreemptContext, "should_preempt", lambda _: next(asked)):
            trial = self.train(name="b")
        self.assertEqual(len(trial.seen), 3)
        self.assertEqual(self.checkpoints("b"), [3])
        again = self.train(name="b")
        self.assertEqual([batch for _, batch in again.seen], list(range(3, 10)))
        self.assert_same_weights(whole.model, again.model)

    def test_a_stop_request_of_the_trial_reports_and_stores_a_checkpoint(self):
        class Stopping(LineTrial):
            def train_batch(self, batch, epoch_idx, batch_idx):
                self.context.set_stop_requested(batch_idx == 3)
                return super().train_batch(batch, epoch_idx, batch_idx)

        trial = self.train(Stopping)
        self.assertEqual(len(trial.seen), 4)
        self.assertEqual(self.checkpoints(), [4])
        self.assertEqual(sorted(self.reports("a", "training")), [3, 4])

    def test_changed_hyperparameters_replace_those_of_the_checkpoint(self):
        class Tuned(LineTrial):
            def build_optimizer(self, model):
                return torch.optim.SGD(
                    model.parameters(),
                    lr=self.context.get_hparam("lr"),
                    momentum=self.context.get_hparam("momentum"),
                )

            def __init__(self, context):
                super().__init__(context)
                self.schedule = context.wrap_lr_scheduler(
                    torch.optim.lr_scheduler.StepLR(self.optimizer, 5, gamma=0.1),
                    StepMode.STEP_EVERY_BATCH,
                )

        self.train(Tuned, init={"hparams": {"lr": 0.1, "momentum": 0.9}})
        other = {"hparams": {"lr": 0.2, "momentum": 0.5}}
        trial = self.train(Tuned, init=other, max_length=pytorch.Batch(12))
        (group,) = trial.optimizer.param_groups
        self.assertEqual(group["momentum"], 0.5)
        self.assertAlmostEqual(group["lr"], 0.002)
        trial = self.train(Tuned, init=other, max_length=pytorch.Batch(16))
        self.assertAlmostEqual(trial.optimizer.param_groups[0]["lr"], 0.0002)

    def test_a_trial_can_be_loaded_for_inference(self):
        trial = self.train()
        trial.model.eval()
        loaded = pytorch.load_trial_from_checkpoint_path(self.latest())
        self.assertIsInstance(loaded, LineTrial)
        self.assertFalse(loaded.model.training)
        self.assert_same_weights(trial.model, loaded.model)


if __name__ == "__main__":
    unittest.main()
