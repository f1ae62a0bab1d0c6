"""Steps of a training: hooks, optimizers and schedulers, metrics."""

from __future__ import annotations

import os
import unittest

import torch
from training import LineTrial, TrainerCase

from trainyard import pytorch

StepMode = pytorch.LRScheduler.StepMode


class Recorder(pytorch.PyTorchCallback):
    """A callback that records each hook call with its arguments."""

    def __init__(self):
        self.calls = []

    def names(self):
        return [name for name, _ in self.calls]


def _recording(hook):
    def method(self, *arguments):
        self.calls.append((hook, arguments))

    return method


HOOKS = [name for name in vars(pytorch.PyTorchCallback) if name.startswith("on_")]
for _hook in HOOKS:
    setattr(Recorder, _hook, _recording(_hook))


class Recorded(LineTrial):
    def build_callbacks(self):
        self.recorder = Recorder()
        return {"recorder": self.recorder}


class Hooks(TrainerCase):
    def test_hooks_are_called_in_order(self):
        trial = self.train(Recorded, max_length=pytorch.Batch(2), reporting_period=pytorch.Batch(1))
        found = trial.recorder.names()
        validation = [
            "on_validation_start",
            "on_validation_epoch_start",
            *["on_validation_step_start", "on_validation_step_end"] * 3,
            "on_validation_epoch_end",
            "on_validation_end",
        ]
        self.assertEqual(
            found,
            [
                "on_trial_startup",
                "on_training_start",
                "on_training_epoch_start",
                "on_training_workload_end",
                "on_training_workload_end",
                *validation,
                "on_checkpoint_save_start",
                "on_checkpoint_write_end",
                "on_checkpoint_upload_end",
                "on_trial_shutdown",
            ],
        )
        self.assertEqual(trial.recorder.calls[0][1], (0, None))
        again = self.train(Recorded, max_length=pytorch.Batch(3))
        found = again.recorder.names()
        self.assertEqual(
            found[:3], ["on_checkpoint_load_start", "on_trial_startup", "on_training_start"]
        )
        self.assertEqual(again.recorder.calls[1][1][0], 2)
        every = {*trial.recorder.names(), *found, "on_training_epoch_end"}
        self.assertEqual(every, set(HOOKS))

    def test_hooks_are_called_with_their_arguments(self):
        trial = self.train(Recorded, max_length=pytorch.Batch(2), reporting_period=pytorch.Batch(2))
        calls = dict(trial.recorder.calls)
        average, each = calls["on_training_workload_end"]
        self.assertEqual(len(each), 2)
        self.assertAlmostEqual(average["loss"], (each[0]["loss"] + each[1]["loss"]) / 2, 6)
        self.assertEqual(list(calls["on_validation_end"][0]), ["error"])
        self.assertEqual(len(calls["on_validation_epoch_end"][0]), 3)
        self.assertIn("models_state_dict", calls["on_checkpoint_save_start"][0])
        self.assertEqual(calls["on_checkpoint_upload_end"][0], self.latest().name)

    def test_the_state_of_callbacks_is_restored_from_a_checkpoint(self):
        class Adding(pytorch.PyTorchCallback):
            def on_checkpoint_save_start(self, checkpoint):
                checkpoint["mine"] = 7

            def on_checkpoint_load_start(self, checkpoint):
                self.found = checkpoint["mine"]

            def on_checkpoint_write_end(self, checkpoint_dir):
                with open(os.path.join(checkpoint_dir, "mine.txt"), "w") as file:
                    file.write("7")

        class Added(LineTrial):
            def build_callbacks(self):
                self.adding = Adding()
                return {"adding": self.adding}

        self.train(Added)
        self.assertEqual((self.latest() / "mine.txt").read_text(), "7")
        trial = self.train(Added, max_length=pytorch.Batch(11))
        self.assertEqual(trial.adding.found, 7)

    def test_epoch_hooks_are_called_with_the_epochs_index(self):
        trial = self.train(Recorded, max_length=pytorch.Epoch(2))
        found = [call for call in trial.recorder.calls if "training_epoch" in call[0]]
        self.assertEqual(
            found,
            [
                ("on_training_epoch_start", (0,)),
                ("on_training_epoch_end", (0,)),
                ("on_training_epoch_start", (1,)),
                ("on_training_epoch_end", (1,)),
            ],
        )

    def test_the_shutdown_hook_runs_after_an_exception(self):
        recorder = Recorder()

        class Failing(LineTrial):
            def build_callbacks(self):
                return {"recorder": recorder}

            def train_batch(self, batch, epoch_idx, batch_idx):
                raise KeyError("x")

        with self.assertRaises(KeyError):
            self.train(Failing)
        self.assertEqual(recorder.names()[-1], "on_trial_shutdown")


class Steps(TrainerCase):
    def plain(self, kind, batches=10):
        """Yields the batches of a plain loop that is equivalent to the trial."""
        torch.manual_seed(0)
        model = kind.build_model(kind)
        optimizer = kind.build_optimizer(kind, model)
        loader = kind.build_training_data_loader(kind).get_data_loader(repeat=True, seed=0)
        for n, batch in zip(range(batches), loader):
            yield n, model, optimizer, batch
        self.hand = model

    def test_a_training_equals_a_plain_loop(self):
        trial = self.train()
        for _, model, optimizer, batch in self.plain(LineTrial):
            torch.nn.functional.mse_loss(model(batch["x"]), batch["y"]).backward()
            optimizer.step()
            optimizer.zero_grad()
        self.assert_same_weights(self.hand, trial.model)

    def test_gradients_of_several_batches_are_averaged_before_a_step(self):
        kind = type("Clipped", (LineTrial,), {"clip": True})
        trial = self.train(kind, init={"aggregation_frequency": 3}, max_length=pytorch.Batch(9))
        for n, model, optimizer, batch in self.plain(LineTrial, 9):
            torch.nn.functional.mse_loss(model(batch["x"]), batch["y"]).backward()
            if n % 3 == 2:
                for parameter in model.parameters():
                    assert parameter.grad is not None
                    parameter.grad /= 3
                torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
                optimizer.step()
                optimizer.zero_grad()
        self.assert_same_weights(self.hand, trial.model)

    def test_gradients_are_unscaled_before_clipping(self):
        class Scaled(LineTrial):
            def __init__(self, context):
                super().__init__(context)
                self.scaler = context.wrap_scaler(torch.amp.GradScaler("cpu", init_scale=1024.0))

            def train_batch(self, batch, epoch_idx, batch_idx):
                loss = self.loss(batch)
                self.context.backward(self.scaler.scale(loss))
                if batch_idx % 2:
                    self.scaler.unscale_(self.optimizer)
                self.context.step_optimizer(
                    self.optimizer,
                    clip_grads=lambda ps: torch.nn.utils.clip_grad_norm_(ps, 0.1),
                    scaler=self.scaler,
                )
                self.scaler.update()
                return loss

        plain = self.train(type("Clipped", (LineTrial,), {"clip": True}))
        scaled = self.train(Scaled, name="b")
        for one, other in zip(plain.model.parameters(), scaled.model.parameters()):
            torch.testing.assert_close(one, other)

    def test_schedulers_step_as_their_mode_and_frequency_say(self):
        class Scheduled(LineTrial):
            mode = StepMode.STEP_EVERY_BATCH
            every = 1

            def __init__(self, context):
                super().__init__(context)
                self.rates = []
                self.schedule = context.wrap_lr_scheduler(
                    torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda n: float(n)),
                    self.mode,
                    self.every,
                )

            def train_batch(self, batch, epoch_idx, batch_idx):
                self.rates.append(round(self.schedule.get_last_lr()[0] * 100))
                return super().train_batch(batch, epoch_idx, batch_idx)

        def rates(mode, every=1, length=6, frequency=1):
            kind = type("One", (Scheduled,), {"mode": mode, "every": every})
            name = f"{mode}-{every}-{frequency}"
            init = {"aggregation_frequency": frequency}
            return self.train(kind, name, init, max_length=pytorch.Batch(length)).rates

        self.assertEqual(rates(StepMode.STEP_EVERY_BATCH), [0, 1, 2, 3, 4, 5])
        self.assertEqual(rates(StepMode.STEP_EVERY_BATCH, 2), [0, 0, 1, 1, 2, 2])
        found = rates(StepMode.STEP_EVERY_OPTIMIZER_STEP, 1, 8, 3)
        self.assertEqual(found, [0, 0, 0, 1, 1, 1, 2, 2])
        found = rates(StepMode.STEP_EVERY_EPOCH, 1, 21)
        self.assertEqual(found, [0] * 10 + [1] * 10 + [2])
        self.assertEqual(rates(StepMode.MANUAL_STEP), [0] * 6)

    def test_the_context_returns_the_current_epoch_and_batch(self):
        found = []

        class Asking(LineTrial):
            def train_batch(self, batch, epoch_idx, batch_idx):
                context = self.context
                asked = (
                    context.current_train_epoch(),
                    context.current_train_batch(),
                    context.is_epoch_start(),
                    context.is_epoch_end(),
                )
                found.append(asked)
                return super().train_batch(batch, epoch_idx, batch_idx)

        trial = self.train(
            Asking,
            init={
                "hparams": {"lr": 1, "global_batch_size": 8},
                "exp_conf": {"data": {"url": "x"}, "reproducibility": {"experiment_seed": 5}},
            },
            max_length=pytorch.Batch(12),
        )
        self.assertEqual(found[0], (0, 0, True, False))
        self.assertEqual(found[9:11], [(0, 9, False, True), (1, 10, True, False)])
        context = trial.context
        self.assertEqual((context.get_hparam("lr"), context.get_hparams()["lr"]), (1, 1))
        self.assertEqual(context.get_data_config(), {"url": "x"})
        self.assertEqual(context.get_trial_seed(), 5)
        self.assertEqual(context.get_per_slot_batch_size(), 8)
        self.assertEqual(context.device.type, "cpu")
        self.assertEqual(context.distributed.size, 1)


class Metrics(TrainerCase):
    def test_metrics_are_averaged_over_the_reporting_period(self):
        class Numbered(LineTrial):
            def train_batch(self, batch, epoch_idx, batch_idx):
                return {"n": batch_idx, "t": torch.tensor([float(batch_idx)])}

        self.train(Numbered, max_length=pytorch.Batch(6))
        found = self.reports("a", "training")
        self.assertEqual([found[3]["n"], found[6]["n"]], [1, 4])
        self.assertEqual(found[6]["t"], 4)
        self.assertEqual((found[6]["batches"], found[6]["epochs"]), (6, 0.6))

    def test_a_loss_of_nan_is_reported(self):
        class Diverged(LineTrial):
            def train_batch(self, batch, epoch_idx, batch_idx):
                return torch.tensor(float("nan"))

        self.train(Diverged)
        self.assertEqual(self.reports("a", "training")[3]["loss"], "NaN")

    def test_a_reducer_can_serve_training_and_validation(self):
        class Reduced(LineTrial):
            def __init__(self, context):
                super().__init__(context)
                self.count = context.wrap_reducer(len, "count")

            def train_batch(self, batch, epoch_idx, batch_idx):
                self.count.update(1)
                return super().train_batch(batch, epoch_idx, batch_idx)

            def evaluate_batch(self, batch):
                self.count.update(1)
                return super().evaluate_batch(batch)

        fit = {"max_length": pytorch.Batch(7), "validation_period": pytorch.Batch(4)}
        self.train(Reduced, reporting_period=pytorch.Batch(5), **fit)
        found = {step: metrics["count"] for step, metrics in self.reports("a", "training").items()}
        self.assertEqual(found, {4: 4, 5: 1, 7: 2})
        self.assertEqual(self.reports("a", "validation")[4]["count"], 3)
        killed = {"reporting_period": pytorch.Batch(6), "checkpoint_period": pytorch.Batch(1)}
        self.killed_at(2, Reduced, "b", **killed)
        self.train(Reduced, "b", **killed)
        self.assertEqual(self.reports("b", "training")[6]["count"], 6)


if __name__ == "__main__":
    unittest.main()
