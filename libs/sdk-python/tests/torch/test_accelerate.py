"""Accelerate's tracker and checkpoints, with the real package and the example that uses both."""

from __future__ import annotations

import json
import os
import runpy
import signal
import unittest
import warnings
from unittest import mock

from killing import EXAMPLES, FrameworkCase, in_a_child, in_children, kill_myself, load_ahead

SCRIPT = EXAMPLES / "accelerate/train.py"
HPARAMS = {"learning_rate": 0.02, "hidden_units": 8, "batch_size": 64, "epochs": 3}
STEPS = 30


def setUpModule():
    """Imports the frameworks here, so that listing the tests is fast."""
    global Accelerator, Checkpoints, DataLoaderConfiguration, Tracker, load_file, main, torch
    import torch
    from accelerate import Accelerator, DataLoaderConfiguration
    from safetensors.torch import load_file

    from trainyard.accelerate import Checkpoints, Tracker

    load_ahead()
    warnings.simplefilter("ignore")
    main = runpy.run_path(str(SCRIPT))["main"]


class AccelerateCase(FrameworkCase):
    def setUp(self):
        super().setUp()
        os.environ["ACCELERATE_USE_CPU"] = "true"

    def train(self, name, act=lambda step: None, together=False):
        """Runs the example's training, in a child: an Accelerator's state is global in its process."""
        hparams = {**HPARAMS, "checkpoint_steps": 4}
        if together:
            ctx = self.open_together(name, local_hparams={**hparams, "batch_size": 32})
        else:
            ctx = self.open_local(name, local_hparams=hparams)
        reported = Tracker.log

        def log(tracker, values, step=None, **more):
            reported(tracker, values, step, **more)
            act(step)

        with ctx, mock.patch.object(Tracker, "log", log):
            main(ctx)

    def run_training(self, name, **given):
        return in_a_child(lambda: self.train(name, **given))

    def weights(self, name):
        return load_file(self.latest(name) / "model.safetensors")

    def assert_same(self, name, other):
        left, right = self.weights(name), self.weights(other)
        self.assertEqual(set(left), set(right))
        for parameter, values in left.items():
            self.assertTrue(torch.equal(values, right[parameter]), parameter)


class Resumes(AccelerateCase):
    def test_a_killed_and_resumed_accelerate_training_ends_with_the_same_weights(self):
        self.assertEqual(self.run_training("whole"), 0)
        self.assertEqual(self.steps("validation", "whole"), [10, 20, 30])
        # The steps are before the first checkpoint, within epochs, and at the end.
        for step in (2, 7, 13, 22, STEPS):
            with self.subTest(step=step):
                name = f"killed-{step}"
                ended = self.run_training(name, act=lambda at: at == step and kill_myself())
                self.assertEqual(ended, -signal.SIGKILL)
                self.assertEqual(self.run_training(name), 0)
                self.assert_same(name, "whole")

    def test_two_killed_and_resumed_processes_end_with_the_same_weights(self):
        def die(step):
            # Only the chief logs, so this is the chief.
            if step == 7:
                kill_myself()

        self.assertEqual(in_children(2, lambda: self.train("whole", together=True)), [0, 0])
        ended = in_children(2, lambda: self.train("killed", die, together=True))
        self.assertEqual(ended, [-signal.SIGKILL, 1])
        self.assertEqual(in_children(2, lambda: self.train("killed", together=True)), [0, 0])
        self.assert_same("killed", "whole")
        self.assertEqual(self.steps("training", "killed", run=2)[0], 5)

    def test_the_accelerate_example_runs(self):
        self.run_example("accelerate/train.py", "epochs=1")
        self.assertEqual(self.steps("validation"), [40])


class Stops(AccelerateCase):
    def test_a_stop_request_ends_the_training_at_a_step_with_a_checkpoint(self):
        hparams = json.dumps({**HPARAMS, "checkpoint_steps": 99})
        with self.a_platform(TRAINYARD_HPARAMS=hparams) as platform:

            def train():
                with self.open_local() as ctx:
                    reported = Tracker.log

                    def log(tracker, values, step=None, **more):
                        reported(tracker, values, step, **more)
                        if step == 7:
                            self.ask_to_stop(platform, ctx)

                    with mock.patch.object(Tracker, "log", log):
                        main(ctx)

            train()
            (stored,) = platform.checkpoints.values()
        self.assertEqual((stored["stepsCompleted"], stored["state"]), (7, "COMPLETED"))


class Tracking(AccelerateCase):
    def test_the_tracker_chooses_groups_by_names_or_argument(self):
        with self.open_local() as ctx:
            tracker = Tracker(ctx)
            tracker.log({"loss": 1.0, "val_loss": 1.0}, step=1)
            tracker.log({"val_loss": 1.0, "eval_loss": 2.0}, step=2)
            tracker.log({"loss": 1.0}, step=3, group="warmup")
            with self.assertRaisesRegex(ValueError, "needs step="):
                tracker.log({"loss": 1.0})
        groups = [("training", [1]), ("validation", [2]), ("warmup", [3])]
        self.assertEqual([(name, self.steps(name)) for name, _ in groups], groups)

    def test_batches_refuses_a_loader_whose_order_is_not_repeatable(self):
        def work():
            with self.open_local() as ctx:
                accelerator = Accelerator(cpu=True)
                loader = torch.utils.data.DataLoader(range(8), shuffle=True)
                loader = accelerator.prepare(loader)
                with self.assertRaisesRegex(ValueError, "use_seedable_sampler=True"):
                    next(Checkpoints(ctx, accelerator).batches(loader, 0))
                accelerator.project_configuration.automatic_checkpoint_naming = True
                with self.assertRaisesRegex(ValueError, "without automatic_checkpoint_naming"):
                    Checkpoints(ctx, accelerator)

        self.assertEqual(in_a_child(work), 0)


if __name__ == "__main__":
    unittest.main()
