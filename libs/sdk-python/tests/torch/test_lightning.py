"""Lightning's Trainer with Trainyard's logger, callback and loader, with the real package."""

from __future__ import annotations

import os
import signal
import unittest
import warnings

from killing import FrameworkCase, in_a_child, in_children, kill_myself

EPOCHS = 3
BATCHES = 7


def setUpModule():
    """Imports the frameworks here, so that listing the tests is fast."""
    global Callback, Environment, Logger, Model, ResumableDataLoader, lightning, torch
    import logging

    import lightning
    import torch

    from trainyard.lightning import Callback, Environment, Logger, ResumableDataLoader

    warnings.simplefilter("ignore")
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    Model = model_class()


def model_class():
    class Model(lightning.LightningModule):
        """A model with dropout and a learning rate schedule that draws a random number in each validation."""

        def __init__(self):
            super().__init__()
            torch.manual_seed(3)
            self.layers = torch.nn.Sequential(
                torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1)
            )

        def training_step(self, batch, index):
            loss = self.layers(batch).square().mean()
            self.log("loss", loss)
            return loss

        def validation_step(self, batch, index):
            self.log("quality", self.layers(batch).mean() + 0 * torch.rand(()))

        def configure_optimizers(self):
            optimizer = torch.optim.Adam(self.parameters(), lr=0.05)
            schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
            return {"optimizer": optimizer, "lr_scheduler": schedule}

    return Model


class LightningCase(FrameworkCase):
    def fit(self, ctx, *others, before=(), every=3, every_n_epochs=1, **arguments):
        torch.manual_seed(5)
        draw = torch.Generator().manual_seed(1)
        data = torch.randn(BATCHES * 4, 4, generator=draw)
        callback = Callback(ctx, every_n_train_steps=every, every_n_epochs=every_n_epochs)
        trainer = lightning.Trainer(
            accelerator="cpu",
            devices=ctx.distributed.local_size,
            logger=Logger(ctx),
            callbacks=[*before, callback, *others],
            enable_progress_bar=False,
            enable_model_summary=False,
            default_root_dir=self.folder,
            **{"max_epochs": EPOCHS, "log_every_n_steps": 5, **arguments},
        )
        model = Model()
        loader = ResumableDataLoader(data, ctx, batch_size=4, shuffle=True)
        # This loader draws torch's random numbers at each validation.
        validation = torch.utils.data.DataLoader(data, batch_size=14, shuffle=True)
        callback.fit(trainer, model, loader, validation)
        return trainer, [p.detach().clone() for p in model.parameters()]

    def train(self, name, *others, **arguments):
        with self.open_local(name, local_seed=9) as ctx:
            return self.fit(ctx, *others, **arguments)

    def assert_same(self, weights, others):
        for one, other in zip(weights, others):
            self.assertTrue(torch.equal(one, other))


def at_step(step, act):
    """Returns a callback that runs ``act`` at the end of a step."""

    class AtStep(lightning.Callback):
        def on_train_batch_end(self, trainer, module, outputs, batch, index):
            if trainer.global_step == step:
                act()

    return AtStep()


class Reports(LightningCase):
    def test_metrics_are_reported_by_stage_together_with_progress(self):
        self.train("here")
        self.assertEqual(self.steps("training"), [5, 10, 15, 20])
        self.assertEqual(self.steps("validation"), [7, 14, 21])
        self.assertIn("quality", self.reports("validation")[0]["metrics"])
        self.assertEqual(self.reports("progress")[-1]["metrics"], {"progress": 1.0})
        told = [report["metrics"]["progress"] for report in self.reports("progress")]
        self.assertEqual(told, sorted(told))

    def test_without_the_callback_metric_names_decide_the_group(self):
        with self.open_local() as ctx:
            Logger(ctx).log_metrics({"val_loss": 1.0, "loss": 2.0, "epoch": 0}, 6)
        self.assertEqual(self.reports("validation")[0]["metrics"], {"val_loss": 1.0, "epoch": 0})
        self.assertEqual((self.steps("training"), self.steps("validation")), ([7], [7]))


class Resumes(LightningCase):
    def test_a_killed_and_resumed_lightning_training_ends_with_the_same_weights(self):
        _, whole = self.train("whole")
        # The steps are before the first checkpoint, within epochs, at the end of an epoch and after the last
        # checkpoint.
        for step in (2, 5, 7, 8, 16, 21):
            with self.subTest(step=step):
                name = f"killed-{step}"
                ended = in_a_child(lambda: self.train(name, at_step(step, kill_myself)))
                self.assertEqual(ended, -signal.SIGKILL)
                trainer, weights = self.train(name)
                self.assertEqual(trainer.global_step, EPOCHS * BATCHES)
                self.assert_same(weights, whole)

    def test_resuming_is_exact_with_accumulated_gradients_and_validations_in_an_epoch(self):
        given = {"accumulate_grad_batches": 2, "val_check_interval": 3, "every": 1}
        _, whole = self.train("whole", **given)
        for step in (2, 4, 6):
            with self.subTest(step=step):
                name = f"killed-{step}"
                in_a_child(lambda: self.train(name, at_step(step, kill_myself), **given))
                self.assert_same(self.train(name, **given)[1], whole)

    def test_a_checkpoint_of_a_completed_training_is_not_trained_further(self):
        for length in ({"max_epochs": 2}, {"max_epochs": -1, "max_steps": 10}):
            name = str(len(length))
            _, whole = self.train(name, **length)
            _, weights = self.train(name, **length)
            self.assert_same(weights, whole)


class Stops(LightningCase):
    def test_a_stop_request_ends_the_training_at_a_step_with_a_checkpoint(self):
        _, whole = self.train("whole")
        for step in (5, 7):
            with self.subTest(step=step):
                self.stop_at(step, whole)

    def stop_at(self, step, whole):
        seed = {"TRAINYARD_TRIAL_SEED": "9"}
        with self.a_platform(**seed) as platform:
            with self.open_local() as ctx:
                ask = at_step(step, lambda: self.ask_to_stop(platform, ctx))
                never = {"every": None, "every_n_epochs": None}
                trainer, _ = self.fit(ctx, before=[ask], min_epochs=3, **never)
            self.assertTrue(ctx.preempt.acknowledged)
        (stored,) = platform.checkpoints.values()
        self.assertEqual((trainer.global_step, stored["stepsCompleted"]), (step, step))
        latest = {"TRAINYARD_LATEST_CHECKPOINT": stored["checkpoint"], **seed}
        with self.a_platform(TRAINYARD_STEPS_COMPLETED=str(step), **latest) as resumed:
            resumed.checkpoints[stored["checkpoint"]] = stored
            with self.open_local() as ctx:
                _, weights = self.fit(ctx)
        self.assert_same(weights, whole)


class Together(LightningCase):
    """Tests with two processes that Lightning did not start."""

    def train(self, name, *others, **arguments):
        with self.open_together(name, local_seed=9) as ctx:
            self.fit(ctx, *others, plugins=[Environment(ctx)], strategy="ddp", **arguments)

    def test_two_killed_and_resumed_ranks_end_with_the_same_weights(self):
        self.assertEqual(in_children(2, lambda: self.train("whole")), [0, 0])
        self.assertEqual(self.steps("validation", "whole"), [4, 8, 12])

        def die():
            if os.environ["RANK"] == "1":
                kill_myself()

        ended = in_children(2, lambda: self.train("killed", at_step(6, die)))
        self.assertEqual(ended, [1, -signal.SIGKILL])
        self.assertEqual(in_children(2, lambda: self.train("killed")), [0, 0])
        whole, resumed = (
            torch.load(self.latest(name) / "trainer.ckpt", weights_only=True)["state_dict"]
            for name in ("whole", "killed")
        )
        self.assert_same(resumed.values(), whole.values())


class Example(LightningCase):
    def test_the_lightning_example_runs_and_continues_with_one_and_two_processes(self):
        for epochs in (1, 2):
            self.run_example("lightning/train.py", f"epochs={epochs}")
        self.assertEqual(self.steps("validation", run=1), [50])
        self.assertEqual(self.steps("validation", run=2), [100])
        self.run_example("lightning/train.py", "epochs=1", processes=2, name="two")
        self.assertEqual(self.steps("validation", "two"), [25])


class Loaders(LightningCase):
    def test_a_resumed_loader_skips_the_batches_that_were_yielded(self):
        with self.open_local() as ctx:

            def make():
                return ResumableDataLoader(range(10), ctx, batch_size=3, shuffle=True)

            whole = [batch.tolist() for batch in make()]
            first = make()
            passing = iter(first)
            begun = [next(passing).tolist()]
            second = make()
            second.load_state_dict(first.state_dict())
            self.assertEqual(begun + [batch.tolist() for batch in second], whole)
            self.assertEqual([batch.tolist() for batch in second], whole)
            self.assertEqual(len(second), 4)
            with self.assertRaisesRegex(TypeError, "leave sampler out"):
                ResumableDataLoader(range(10), ctx, sampler=range(3))


class Misuse(LightningCase):
    def test_invalid_periods_and_numbers_of_processes_are_refused(self):
        with self.open_local() as ctx:
            with self.assertRaisesRegex(ValueError, "every_n_epochs must be 1 or more"):
                Callback(ctx, every_n_epochs=0)
            with self.assertRaisesRegex(ValueError, "1 processes on each of 1 hosts"):
                Environment(ctx).validate_settings(2, 1)


if __name__ == "__main__":
    unittest.main()
