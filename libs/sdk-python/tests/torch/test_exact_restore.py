"""A training that was killed at any batch and resumed equals an uninterrupted one, bit for bit."""

from __future__ import annotations

import random
import unittest

import torch
from training import Killed, LineTrial, Points, TrainerCase

from trainyard import pytorch

LRScheduler = pytorch.LRScheduler
LENGTH = pytorch.Batch(24)


class ManyParts(LineTrial):
    """A trial with two models, two optimizers, schedulers of each step mode, and callbacks with a state."""

    def __init__(self, context):
        super().__init__(context)
        self.critic = context.wrap_model(
            torch.nn.Sequential(
                torch.nn.Linear(1, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 1)
            )
        )
        self.second = context.wrap_optimizer(
            torch.optim.SGD(self.critic.parameters(), lr=0.05, momentum=0.9)
        )
        schedulers = torch.optim.lr_scheduler
        modes = LRScheduler.StepMode
        context.wrap_lr_scheduler(
            schedulers.CosineAnnealingLR(self.optimizer, 30), modes.STEP_EVERY_OPTIMIZER_STEP
        )
        context.wrap_lr_scheduler(schedulers.StepLR(self.second, 2), modes.STEP_EVERY_EPOCH)
        self.counter = Counter()

    def build_callbacks(self):
        return {"counter": self.counter}

    def train_batch(self, batch, epoch_idx, batch_idx):
        metrics = super().train_batch(batch, epoch_idx, batch_idx)
        drawn = torch.rand(batch["y"].shape)
        loss = (self.critic(drawn) - batch["y"]).abs().mean() + self.critic(batch["y"]).mean()
        self.context.backward(loss)
        self.context.step_optimizer(self.second)
        return {**metrics, "critic": loss, "chance": random.random()}


class Stream(torch.utils.data.IterableDataset):
    """A dataset without a length."""

    def __iter__(self):
        points = Points()
        return (points[n] for n in range(18))


class Counter(pytorch.PyTorchCallback):
    def __init__(self):
        self.validations = []
        self.epochs = []

    def on_validation_end(self, metrics):
        self.validations.append(metrics["error"])

    def on_training_epoch_end(self, epoch_idx):
        self.epochs.append(epoch_idx)

    def state_dict(self):
        return {"validations": self.validations, "epochs": self.epochs}

    def load_state_dict(self, state_dict):
        self.validations = state_dict["validations"]
        self.epochs = state_dict["epochs"]


class ExactRestore(TrainerCase):
    def check(self, kind, kills, init=None, **fit):
        """Kills a training at each of these batches, one after the other; a new process continues from the folder
        each time.
        """
        fit = {
            "max_length": LENGTH,
            "validation_period": pytorch.Batch(5),
            "checkpoint_period": pytorch.Batch(3),
            "checkpoint_policy": "none",
            **fit,
        }
        name = f"{kind.__name__}-{'-'.join(map(str, kills))}"
        if kind.__name__ not in self.whole:
            self.whole[kind.__name__] = self.train(kind, kind.__name__, init, **fit)
        for kill in kills:
            self.killed_at(kill, kind, name, init, **fit)
        resumed, whole = self.train(kind, name, init, **fit), self.whole[kind.__name__]
        for one, other in zip(whole.context.models, resumed.context.models):
            self.assert_same_weights(one, other)
        for group in ("training", "validation"):
            self.assertEqual(self.reports(kind.__name__, group), self.reports(name, group))
        return whole, resumed

    def setUp(self):
        super().setUp()
        self.whole = {}

    def test_restore_is_exact_at_every_batch(self):
        for kill in range(24):
            with self.subTest(kill=kill):
                self.check(LineTrial, [kill])

    def test_restore_is_exact_after_several_kills(self):
        draw = random.Random(7)
        for _ in range(5):
            kills = sorted(draw.sample(range(24), 4))
            with self.subTest(kills=kills):
                self.check(LineTrial, kills, checkpoint_period=pytorch.Batch(1))

    def test_restore_is_exact_with_several_models_optimizers_schedulers_and_callbacks(self):
        for kill in (1, 4, 9, 10, 11, 17, 22):
            with self.subTest(kill=kill):
                whole, resumed = self.check(ManyParts, [kill])
                self.assertEqual(whole.counter.epochs, [0, 1])
                self.assertEqual(whole.counter.state_dict(), resumed.counter.state_dict())

    def test_restore_is_exact_in_the_middle_of_a_gradient_accumulation(self):
        kind = type("Aggregating", (ManyParts,), {"clip": True})
        for kill in (5, 8, 13, 16, 19):
            with self.subTest(kill=kill):
                self.check(kind, [kill], {"hparams": {}, "aggregation_frequency": 4})

    def test_restore_is_exact_in_mixed_precision(self):
        kind = type("Mixed", (ManyParts,), {"amp": True})
        for kill in (7, 14):
            with self.subTest(kill=kill):
                self.check(kind, [kill])

    def test_restore_is_exact_with_a_dataset_that_draws_random_numbers(self):
        kind = type("Noisy", (LineTrial,), {"noisy": True})
        for kill in (7, 14):
            with self.subTest(kill=kill):
                self.check(kind, [kill])

    def test_restore_is_exact_with_worker_processes_that_draw_random_numbers(self):
        kind = type("Loading", (LineTrial,), {"noisy": True, "workers": 2})
        self.check(kind, [14])

    def test_restore_is_exact_with_gradients_that_the_trial_keeps(self):
        class Keeping(LineTrial):
            def train_batch(self, batch, epoch_idx, batch_idx):
                if batch_idx == self.kill_at:
                    raise Killed
                loss = self.loss(batch)
                self.context.backward(loss)
                self.context.step_optimizer(self.optimizer, auto_zero_grads=False)
                if batch_idx % 5 == 4:
                    self.optimizer.zero_grad()
                return {"loss": loss}

        self.check(Keeping, [13])

    def test_restore_is_exact_with_a_plain_loader(self):
        class Plain(LineTrial):
            def __init__(self, context):
                super().__init__(context)
                context.experimental.disable_dataset_reproducibility_checks()

            def build_training_data_loader(self):
                described = super().build_training_data_loader()
                return torch.utils.data.DataLoader(described.dataset, batch_size=4, shuffle=True)

        for kill in (7, 14):
            with self.subTest(kill=kill):
                self.check(Plain, [kill])

    def test_restore_is_exact_with_a_stream_without_a_length(self):
        class Streaming(LineTrial):
            def build_training_data_loader(self):
                return pytorch.DataLoader(Stream(), batch_size=4)

        for kill in (4, 14):
            with self.subTest(kill=kill):
                self.check(Streaming, [kill])

    def test_restore_is_exact_with_modules_in_evaluation_mode(self):
        class Frozen(ManyParts):
            def train_batch(self, batch, epoch_idx, batch_idx):
                if batch_idx == 2:
                    self.critic[1].eval()
                return super().train_batch(batch, epoch_idx, batch_idx)

        self.check(Frozen, [8])

    def test_a_report_after_a_restart_includes_the_batches_before_it(self):
        self.check(LineTrial, [20], reporting_period=pytorch.Batch(7))

    def test_validations_and_reports_do_not_change_the_weights(self):
        busy = self.train(name="busy", max_length=LENGTH, validation_period=pytorch.Batch(1))
        quiet = self.train(name="quiet", max_length=LENGTH, reporting_period=None)
        self.assert_same_weights(busy.model, quiet.model)


if __name__ == "__main__":
    unittest.main()
