"""The callback for the Hugging Face Trainer, with the real Trainer."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import signal
import unittest
from unittest import mock

from killing import FrameworkCase, in_a_child, in_children, kill_myself

from trainyard import _storage

STEPS = 30


def setUpModule():
    """Imports the frameworks here, so that listing the tests is fast."""
    global Callback, torch, training_arguments, transformers
    import torch
    import transformers

    from trainyard.transformers import Callback, training_arguments

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()


def examples(count=40):
    """Sequences of six tokens; the label is whether the first token is high."""
    draw = torch.Generator().manual_seed(1)
    tokens = torch.randint(2, 50, (count, 6), generator=draw)
    return [{"input_ids": t, "labels": int(t[0] > 25)} for t in tokens]


def model():
    torch.manual_seed(7)
    return transformers.BertForSequenceClassification(
        transformers.BertConfig(
            vocab_size=50,
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=8,
        )
    )


def at_step(step, act):
    """Returns a callback that runs ``act`` at the end of a step."""

    class AtStep(transformers.TrainerCallback):
        def on_step_end(self, args, state, control, **more):
            if state.global_step == step:
                act()

    return AtStep()


class TrainerCase(FrameworkCase):
    def fit(self, ctx, *others, before=(), callback=None, **arguments):
        given = {
            "max_steps": STEPS,
            "per_device_train_batch_size": 4,
            "logging_steps": 5,
            "save_steps": 7,
            "learning_rate": 0.01,
            **arguments,
        }
        callback = callback or Callback(ctx)
        trainer = transformers.Trainer(
            model=model(),
            args=training_arguments(ctx, **given),
            train_dataset=examples(),
            eval_dataset=examples(8),
            callbacks=[*before, callback, *others],
        )
        with contextlib.redirect_stdout(io.StringIO()):
            return trainer, callback.train(trainer)

    def weights(self, name="here"):
        return (self.latest(name) / "model.safetensors").read_bytes()


class Ported(FrameworkCase):
    def train(self, steps, act=None):
        """Runs a script of Determined with changed imports."""
        from trainyard.transformers import DetCallback

        with self.open_local() as core_context:
            arguments = transformers.TrainingArguments(
                output_dir=str(self.folder / "output"),
                max_steps=steps,
                per_device_train_batch_size=4,
                logging_steps=5,
                save_steps=10,
                save_strategy="steps",
                disable_tqdm=True,
                report_to=[],
            )
            callback = DetCallback(
                core_context, arguments, filter_metrics=["loss"], user_data={"note": "mine"}
            )
            trainer = transformers.Trainer(
                model(), arguments, train_dataset=examples(), callbacks=[callback]
            )
            with contextlib.redirect_stdout(io.StringIO()):
                trainer.train(resume_from_checkpoint=arguments.resume_from_checkpoint)
        return core_context, trainer

    def test_det_callback_reports_stores_and_resumes(self):
        core_context, _ = self.train(10)
        self.assertEqual(self.steps("training"), [5, 10])
        self.assertEqual(set(self.reports("training")[0]["metrics"]), {"loss"})
        metadata = core_context.checkpoint.get_metadata(self.latest().name)
        self.assertEqual((metadata["steps_completed"], metadata["note"]), (10, "mine"))
        shutil.rmtree(self.folder / "output")
        _, trainer = self.train(20)
        self.assertEqual(trainer.state.global_step, 20)
        self.assertEqual(self.steps("training", run=2), [15, 20])


class Reports(TrainerCase):
    def test_metrics_evaluations_and_progress_are_reported(self):
        with self.open_local() as ctx:
            trainer, _ = self.fit(ctx, eval_strategy="steps", eval_steps=10)
            with contextlib.redirect_stdout(io.StringIO()):
                trainer.evaluate(examples(4), metric_key_prefix="test")
        self.assertEqual(self.steps("training"), [5, 10, 15, 20, 25, 30])
        self.assertEqual(self.steps("validation"), [10, 20, 30])
        self.assertEqual((self.steps("summary"), self.steps("test")), ([30], [30]))
        self.assertTrue({"loss", "learning_rate"} <= set(self.reports("training")[0]["metrics"]))
        self.assertIn("eval_loss", self.reports("validation")[0]["metrics"])
        self.assertEqual(self.reports("progress")[-1]["metrics"], {"progress": 1.0})
        self.assertEqual(ctx.checkpoint.get_metadata(self.latest().name)["steps_completed"], 30)


class Resumes(TrainerCase):
    def train(self, name, *others, **arguments):
        with self.open_local(name) as ctx:
            return self.fit(ctx, *others, **arguments)

    def test_a_killed_and_resumed_trainer_ends_with_the_same_weights(self):
        self.train("whole")
        for step in (3, 13, 21, STEPS):
            with self.subTest(step=step):
                name = f"killed-{step}"
                # The process is killed before this step is saved, so the run resumes from the checkpoint before
                # it.
                ended = in_a_child(lambda: self.train(name, at_step(step, kill_myself)))
                self.assertEqual(ended, -signal.SIGKILL)
                self.train(name)
                self.assertEqual(self.weights(name), self.weights("whole"))
                self.assertEqual(self.steps("training", name, run=2)[-1], STEPS)

    def test_resuming_is_exact_with_accumulated_gradients_and_epochs(self):
        given = {"max_steps": -1, "num_train_epochs": 3, "gradient_accumulation_steps": 2}
        self.train("whole", save_strategy="epoch", **given)
        in_a_child(
            lambda: self.train("killed", at_step(8, kill_myself), save_strategy="epoch", **given)
        )
        self.train("killed", save_strategy="epoch", **given)
        self.assertEqual(self.weights("killed"), self.weights("whole"))

    def test_a_trials_rates_replace_those_of_the_checkpoint(self):
        given = {"lr_scheduler_type": "linear", "weight_decay": 0.1, "logging_steps": 1}
        in_a_child(lambda: self.train("here", at_step(11, kill_myself), save_steps=10, **given))
        given.update(learning_rate=0.03, weight_decay=0.2)
        trainer, _ = self.train("here", save_steps=10, **given)
        rates = {r["stepsCompleted"]: r["metrics"] for r in self.reports("training", run=2)}
        # An uninterrupted run logs the rate with which this step was taken.
        self.assertEqual(min(rates), 11)
        self.assertAlmostEqual(rates[11]["learning_rate"], 0.03 * (STEPS - 10) / STEPS)
        self.assertAlmostEqual(rates[21]["learning_rate"], 0.03 * (STEPS - 20) / STEPS)
        decays = {group["weight_decay"] for group in trainer.optimizer.param_groups}
        self.assertEqual(decays, {0.2, 0.0})

    def test_a_checkpoint_of_all_steps_is_not_trained_further(self):
        self.train("here", max_steps=14)
        before = self.weights()
        with mock.patch.object(_storage, "check_contents") as compared:
            trainer, output = self.train("here", max_steps=14)
        compared.assert_not_called()
        self.assertIsNone(output)
        self.assertEqual((self.steps("training", run=2), self.weights()), ([], before))
        again = transformers.BertForSequenceClassification.from_pretrained(self.latest())
        for left, right in zip(trainer.model.parameters(), again.parameters()):
            self.assertTrue(torch.equal(left, right))


class Stops(TrainerCase):
    def test_a_stop_request_ends_the_training_after_a_step_with_a_checkpoint(self):
        with self.open_local("whole") as ctx:
            self.fit(ctx, save_steps=100, seed=5)
        with self.a_platform() as platform, contextlib.ExitStack() as stack:
            ctx = stack.enter_context(self.open_local())
            ask = at_step(12, lambda: self.ask_to_stop(platform, ctx))
            trainer, _ = self.fit(ctx, before=[ask], save_strategy="no", seed=5)
            self.assertEqual(trainer.state.global_step, 12)
            stack.close()
            self.assertTrue(ctx.preempt.acknowledged)
            (stored,) = platform.checkpoints.values()
            self.assertEqual((stored["stepsCompleted"], stored["state"]), (12, "COMPLETED"))
        with self.a_platform(
            TRAINYARD_LATEST_CHECKPOINT=stored["checkpoint"], TRAINYARD_STEPS_COMPLETED="12"
        ) as resumed:
            resumed.checkpoints[stored["checkpoint"]] = stored
            with self.open_local() as ctx:
                self.fit(ctx, save_steps=100, seed=5)
            last = [c for c in resumed.checkpoints.values() if c["stepsCompleted"] == STEPS]
        folder = self.folder / "storage" / last[0]["checkpoint"]
        self.assertEqual((folder / "model.safetensors").read_bytes(), self.weights("whole"))

    def test_a_training_that_another_callback_ends_leaves_a_checkpoint(self):
        class EndEarly(transformers.TrainerCallback):
            def on_step_end(self, args, state, control, **more):
                control.should_training_stop = state.global_step == 4

        with self.open_local() as ctx:
            self.fit(ctx, EndEarly())
        self.assertEqual(ctx.checkpoint.get_metadata(self.latest().name)["steps_completed"], 4)


class Together(TrainerCase):
    """Tests with two processes."""

    def train(self, name, *others, **arguments):
        with self.open_together(name) as ctx:
            self.fit(ctx, *others, max_steps=10, save_steps=4, **arguments)

    def test_two_killed_and_resumed_ranks_end_with_the_same_weights(self):
        self.assertEqual(in_children(2, lambda: self.train("whole")), [0, 0])
        stored = {file.name for file in self.latest("whole").iterdir()}
        self.assertLess({"rng_state_0.pth", "rng_state_1.pth", "model.safetensors"}, stored)
        self.assertEqual(self.steps("training", "whole"), [5, 10])

        def die():
            if os.environ["RANK"] == "1":
                kill_myself()

        ended = in_children(2, lambda: self.train("killed", at_step(6, die)))
        self.assertEqual(ended, [1, -signal.SIGKILL])
        self.assertEqual(in_children(2, lambda: self.train("killed")), [0, 0])
        self.assertEqual(self.weights("killed"), self.weights("whole"))

    def test_a_trainer_with_more_processes_than_the_run_is_refused(self):
        def alone():
            with self.open_local(os.environ["RANK"]) as ctx:
                with self.assertRaisesRegex(ValueError, "has 2 processes, but the run has 1"):
                    self.fit(ctx, use_cpu=True, ddp_backend="gloo")

        self.assertEqual(in_children(2, alone), [0, 0])


class Best(TrainerCase):
    def test_the_best_model_is_loaded_after_a_kill_on_another_host(self):
        given = {
            "eval_strategy": "steps",
            "eval_steps": 7,
            "load_best_model_at_end": True,
            "metric_for_best_model": "quality",
            "greater_is_better": True,
        }

        def fit(name, quality, *others):
            with self.open_local(name) as ctx:
                arguments = training_arguments(
                    ctx, max_steps=STEPS, per_device_train_batch_size=4, save_steps=7, **given
                )
                callback = Callback(ctx)
                trainer = transformers.Trainer(
                    model=model(),
                    args=arguments,
                    train_dataset=examples(),
                    eval_dataset=examples(8),
                    compute_metrics=lambda predicted: {"quality": quality()},
                    callbacks=[callback, *others],
                )
                with contextlib.redirect_stdout(io.StringIO()):
                    callback.train(trainer)
                return trainer.state

        qualities = iter([0.5, 0.9, 0.3])
        in_a_child(lambda: fit("here", lambda: next(qualities), at_step(23, kill_myself)))
        shutil.rmtree(self.folder / "here/run-1/trainer")
        state = fit("here", lambda: 0.1)
        self.assertEqual(state.best_global_step, 14)
        self.assertIn("run-2", state.best_model_checkpoint)


class Arguments(TrainerCase):
    def test_hyperparameters_override_default_arguments(self):
        hparams = {
            "learning_rate": 0.5,
            "depth": 3,
            "training_arguments": {"max_steps": 9, "learning_rate": 0.25},
        }
        with self.open_local(local_hparams=hparams, local_seed=11) as ctx:
            made = training_arguments(ctx, max_steps=5, save_total_limit=4)
        self.assertEqual((made.learning_rate, made.max_steps, made.seed), (0.25, 9, 11))
        self.assertEqual((made.save_total_limit, made.report_to), (4, []))

    def test_unknown_training_arguments_are_refused(self):
        for section, said in (({"lerning_rate": 1}, "lerning_rate"), (3, "section")):
            with self.open_local(local_hparams={"training_arguments": section}) as ctx:
                with self.assertRaisesRegex(ValueError, said):
                    training_arguments(ctx)


class Example(TrainerCase):
    def test_the_fine_tuning_example_runs_and_continues(self):
        for epochs in (1, 2):
            self.run_example("huggingface/train.py", "reviews=64", f"num_train_epochs={epochs}")
        self.assertEqual(self.steps("validation"), [3])
        self.assertEqual(self.steps("validation", run=2), [6])
        self.assertIn("eval_accuracy", self.reports("validation")[0]["metrics"])
        self.run_example(
            "huggingface/train.py", "reviews=64", "num_train_epochs=1", processes=2, name="two"
        )
        self.assertEqual(self.steps("validation", "two"), [2])


if __name__ == "__main__":
    unittest.main()
