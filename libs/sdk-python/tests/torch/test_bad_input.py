"""A trial that cannot be trained raises an error of one sentence, which names the method and the correction."""

from __future__ import annotations

import contextlib
import io
import os
import unittest
from unittest import mock

import torch
from training import LineTrial, Points, TrainerCase

import trainyard
from trainyard import _local, pytorch


class BadInputCase(TrainerCase):
    def refused(self, *words, kind=LineTrial, error=Exception, **arguments):
        """Asserts that the error has these words and is one sentence."""
        with self.assertRaises(error) as raised:
            self.train(kind, **arguments)
        said = str(raised.exception)
        for word in words:
            self.assertIn(word, said)
        self.assertNotIn("\n", said)
        self.assertNotIn(". ", said)
        return said

    def made(self, **methods):
        """Returns a LineTrial class with other methods."""
        return type("Other", (LineTrial,), methods)


class BadInput(BadInputCase):
    def test_a_trial_without_a_required_method_is_refused(self):
        for method in ("build_training_data_loader", "build_validation_data_loader", "train_batch"):
            kind = self.made(**{method: getattr(pytorch.PyTorchTrial, method)})
            self.refused(method, "write it", kind=kind, error=TypeError)

    def test_a_trial_with_both_evaluation_methods_or_neither_is_refused(self):
        none = self.made(evaluate_batch=pytorch.PyTorchTrial.evaluate_batch)
        self.refused("neither evaluate_batch()", "exactly one", kind=none, error=TypeError)
        both = self.made(evaluate_full_dataset=lambda self, data_loader: {})
        self.refused("both evaluate_batch()", "exactly one", kind=both, error=TypeError)

    def test_a_trial_class_instead_of_an_instance_is_refused(self):
        with self.assertRaisesRegex(TypeError, r"pass Trial\(context\)"):
            pytorch.Trainer(LineTrial, None)

    def test_a_period_of_zero_or_of_a_wrong_type_is_refused(self):
        for unit in (pytorch.Batch, pytorch.Epoch, pytorch.Second):
            with self.assertRaisesRegex(
                ValueError, rf"pytorch.{unit.__name__}\(0\).*None for never"
            ):
                unit(0)
        for value in ("1", True, 1.5, None):
            with self.assertRaisesRegex(TypeError, "whole number"):
                pytorch.Batch(value)
        with self.assertRaises(ValueError):
            pytorch.Second(float("nan"))

    def test_a_plain_number_as_a_period_is_refused(self):
        self.refused("validation_period=100", "pytorch.Batch(n)", validation_period=100)

    def test_fit_without_a_length_is_refused(self):
        self.refused("max_length", "pytorch.Epoch(10)", max_length=None, error=ValueError)

    def test_an_unknown_checkpoint_policy_is_refused(self):
        self.refused("checkpoint_policy='some'", "'best'", checkpoint_policy="some")

    def test_periods_in_epochs_are_refused_for_a_loader_without_a_length(self):
        class Stream(torch.utils.data.IterableDataset):
            def __iter__(self):
                return iter([Points()[0]] * 8)

        stream = self.made(build_training_data_loader=lambda _: pytorch.DataLoader(Stream(), 2))
        for name in ("max_length", "validation_period", "checkpoint_period", "reporting_period"):
            fit = {name: pytorch.Epoch(1)}
            self.refused(name, "no length", "pytorch.Batch", kind=stream, error=ValueError, **fit)
        trial = self.train(stream, name="streaming", max_length=pytorch.Batch(6))
        self.assertEqual([batch for _, batch in trial.seen], list(range(6)))

    def test_a_plain_torch_loader_is_refused(self):
        loader = torch.utils.data.DataLoader(Points(), 4)
        for method in ("build_training_data_loader", "build_validation_data_loader"):
            kind = self.made(**{method: lambda _: loader})
            remedy = "disable_dataset_reproducibility_checks()"
            self.refused(method, "pytorch.DataLoader", remedy, kind=kind, error=TypeError)
        kind = self.made(build_training_data_loader=lambda _: 5)
        self.refused("gives no batches", kind=kind, error=TypeError)

    def test_a_training_loader_without_a_batch_is_refused(self):
        loader = pytorch.DataLoader(Points(3), 4, drop_last=True)
        kind = self.made(build_training_data_loader=lambda _: loader)
        self.refused("build_training_data_loader", "drop_last=False", kind=kind, error=ValueError)

    def test_a_step_of_an_unwrapped_optimizer_is_refused(self):
        class Unwrapped(LineTrial):
            def __init__(self, context):
                super().__init__(context)
                self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

        self.refused("step_optimizer()", "wrap_optimizer", kind=Unwrapped, error=ValueError)

    def test_a_second_step_in_a_batch_is_refused(self):
        class Twice(LineTrial):
            def train_batch(self, batch, epoch_idx, batch_idx):
                loss = super().train_batch(batch, epoch_idx, batch_idx)
                self.context.step_optimizer(self.optimizer)
                return loss

        self.refused("step_optimizer() was called twice", "between", kind=Twice, error=RuntimeError)

        class Again(LineTrial):
            def train_batch(self, batch, epoch_idx, batch_idx):
                super().train_batch(batch, epoch_idx, batch_idx)
                return super().train_batch(batch, epoch_idx, batch_idx)

        self.train(Again, name="again")

    def test_a_metric_that_is_not_a_number_is_refused(self):
        for value in ("good", [1, 2], {"a": 1}, torch.zeros(3), object()):
            kind = self.made(evaluate_batch=lambda _, batch, *, v=value: {"accuracy": v})
            self.refused("evaluate_batch", "'accuracy'", "return", kind=kind, name=f"v{id(value)}")
        kind = self.made(train_batch=lambda *_: {1: 1.0})
        self.refused("train_batch", "name metrics by strings", kind=kind, error=TypeError)
        kind = self.made(train_batch=lambda *_: None)
        self.refused("train_batch", "dict of metrics", kind=kind, error=TypeError)

    def test_a_training_metric_that_is_not_a_number_is_dropped_with_one_warning(self):
        for value in ("good", [1, 2], {"a": 1}, torch.zeros(3), object()):
            kind = self.made(train_batch=lambda *_, v=value: {"sample": v, "loss": 1.0})
            with self.assertLogs("trainyard", "WARNING") as log:
                self.train(kind, name=f"left-out-{id(value)}")
            warned = [line for line in log.output if "'sample'" in line]
            self.assertEqual(len(warned), 1, log.output)
            self.assertIn("it is left out", warned[0])

    def test_a_validation_without_the_metric_that_the_search_needs_is_refused(self):
        def needing(*arguments):
            return local_info(*arguments)._replace(search_needs_metric=True)

        local_info = _local.info_of
        config = {"searcher": {"name": "adaptive_asha", "metric": "accuracy"}}
        with mock.patch.object(_local, "info_of", needing):
            self.refused("'accuracy'", "error", "searcher.metric", init={"exp_conf": config})

    def test_a_missing_searcher_metric_that_is_not_needed_causes_one_warning(self):
        config = {"searcher": {"name": "single", "metric": "accuracy"}}
        with self.assertLogs("trainyard", "WARNING") as log:
            self.train(validation_period=pytorch.Batch(1), init={"exp_conf": config})
        warned = [line for line in log.output if "has no metric 'accuracy'" in line]
        self.assertEqual(len(warned), 1, log.output)

    def test_an_optimizer_of_an_unwrapped_model_is_refused(self):
        def forgets(self, context):
            self.context = context
            self.model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
            self.optimizer = context.wrap_optimizer(optimizer)

        kind = self.made(__init__=forgets)
        self.refused("wrap_model", "SGD", "2 parameters", "[1, 1]", kind=kind, error=ValueError)

    def test_an_optimizer_with_a_parameter_outside_of_the_model_is_refused(self):
        def adds(self, context):
            LineTrial.__init__(self, context)
            scale = torch.nn.Parameter(torch.ones(3))
            context.optimizers[0].add_param_group({"params": [scale]})

        kind = self.made(__init__=adds)
        self.refused("wrap_model", "1 parameter ", "[3]", kind=kind, error=ValueError)

    def test_a_checkpoint_of_another_model_is_refused(self):
        self.train(name="a")
        wide = self.made(build_model=lambda _: torch.nn.Linear(3, 1))
        self.refused(
            "another model",
            "weight is absent there",
            "start without the checkpoint",
            kind=wide,
            error=ValueError,
        )

        class More(LineTrial):
            def __init__(self, context):
                super().__init__(context)
                context.wrap_model(torch.nn.Linear(1, 1))

        self.refused("wrap_model() was called 1 times", "2 times here", kind=More, error=ValueError)

        class Grouped(LineTrial):
            def build_optimizer(self, model):
                groups = [{"params": [parameter]} for parameter in model.parameters()]
                return torch.optim.AdamW(groups)

        self.refused(
            "another optimizer", "start without the checkpoint", kind=Grouped, error=ValueError
        )
        with self.assertRaisesRegex(ValueError, "another model"):
            pytorch.load_trial_from_checkpoint_path(self.latest(), wide)
        with self.assertRaisesRegex(ValueError, "pass the trial_class"):
            pytorch.load_trial_from_checkpoint_path(self.latest(), More)

    def test_a_checkpoint_that_the_trainer_did_not_store_is_refused(self):
        os.environ["TRAINYARD_LOCAL_DIR"] = str(self.folder / "a")
        with contextlib.redirect_stderr(io.StringIO()), trainyard.init() as ctx:
            with ctx.checkpoint.store_path({"steps_completed": 1}) as (path, _):
                (path / "x").write_text("1")
        self.refused("pytorch.Trainer did not store it", error=ValueError)
        with self.assertRaisesRegex(ValueError, "that pytorch.Trainer stored"):
            pytorch.load_trial_from_checkpoint_path(self.latest())

    def test_the_wrap_methods_refuse_invalid_arguments(self):
        def wrapping(act):
            def init(trial, context):
                LineTrial.__init__(trial, context)
                act(trial, context)

            return self.made(__init__=init)

        sgd = torch.optim.SGD
        rates = torch.optim.lr_scheduler
        mode = pytorch.LRScheduler.StepMode.STEP_EVERY_BATCH
        cases = {
            "wrap_model() takes": lambda t, c: c.wrap_model(3),
            "wrap_model() was called twice": lambda t, c: c.wrap_model(t.model),
            "wrap_optimizer() takes": lambda t, c: c.wrap_optimizer(3),
            "wrap_optimizer() was called twice": lambda t, c: c.wrap_optimizer(t.optimizer),
            "backward_passes_per_step=0": lambda t, c: c.wrap_optimizer(
                sgd(t.model.parameters()), backward_passes_per_step=0
            ),
            "wrap_lr_scheduler() takes": lambda t, c: c.wrap_lr_scheduler(3, mode),
            "step_mode=None": lambda t, c: c.wrap_lr_scheduler(rates.StepLR(t.optimizer, 1), None),
            "frequency=0": lambda t, c: c.wrap_lr_scheduler(rates.StepLR(t.optimizer, 1), mode, 0),
            "optimizer is not wrapped": lambda t, c: c.wrap_lr_scheduler(
                rates.StepLR(sgd(t.model.parameters()), 1), mode
            ),
            "wrap_scaler() takes": lambda t, c: c.wrap_scaler(3),
            "get_hparam('x')": lambda t, c: c.get_hparam("x"),
            "set_stop_requested()": lambda t, c: c.set_stop_requested(1),
            "backward() takes": lambda t, c: c.backward(1.0),
        }
        for word, act in cases.items():
            with self.subTest(word):
                self.refused(word, kind=wrapping(act))

    def test_wrapping_a_model_during_the_training_is_refused(self):
        kind = self.made(train_batch=lambda t, *_: t.context.wrap_model(torch.nn.Linear(1, 1)))
        self.refused("context.wrap_model()", "__init__", kind=kind, error=RuntimeError)

    def test_callbacks_of_a_wrong_type_are_refused(self):
        kind = self.made(build_callbacks=lambda _: [pytorch.PyTorchCallback()])
        self.refused("build_callbacks()", "dict", kind=kind, error=TypeError)
        kind = self.made(build_callbacks=lambda _: {"a": 5})
        self.refused("build_callbacks()", "pytorch.PyTorchCallback", kind=kind, error=TypeError)

    def test_a_callbacks_state_that_cannot_be_pickled_is_refused(self):
        class Stuck(pytorch.PyTorchCallback):
            def state_dict(self):
                return {"function": lambda: 0}

        kind = self.made(build_callbacks=lambda _: {"stuck": Stuck()})
        self.refused("state of a callback", "state_dict()", kind=kind, error=TypeError)

    def test_an_aggregation_frequency_of_zero_is_refused(self):
        self.refused("aggregation_frequency=0", init={"aggregation_frequency": 0})


if __name__ == "__main__":
    unittest.main()
