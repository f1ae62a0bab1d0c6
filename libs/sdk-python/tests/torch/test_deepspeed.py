"""The example with a DeepSpeed engine: of the real package if it is installed, otherwise of a stand-in with its
documented interface.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import unittest
from pathlib import Path
from unittest import mock

from killing import FrameworkCase, in_a_child, in_children, kill_myself, load_ahead

from trainyard import CheckpointError

SCRIPT = "deepspeed/train.py"
DOUBLES = Path(__file__).with_name("doubles")


def setUpModule():
    """Imports the frameworks here, so that listing the tests is fast."""
    global Checkpoints, configuration, initialize, torch
    if importlib.util.find_spec("deepspeed") is None:
        sys.path.insert(0, str(DOUBLES))
    import torch

    from trainyard.deepspeed import Checkpoints, configuration, initialize

    load_ahead()


class Resumes(FrameworkCase):
    def test_a_killed_and_resumed_deepspeed_training_ends_with_the_same_weights(self):
        self.run_example(SCRIPT, "steps=24", processes=2, name="whole")
        self.assertEqual(self.steps("validation", "whole"), [10, 20, 24])

        def run_until_killed():
            taken = []
            step = torch.optim.Adam.step

            def counted(optimizer, *arguments):
                taken.append(1)
                if len(taken) == 17 and os.environ["RANK"] == "1":
                    kill_myself()
                return step(optimizer, *arguments)

            with mock.patch.object(torch.optim.Adam, "step", counted):
                self.run_script(SCRIPT, "killed", "steps=24")

        self.assertEqual(in_children(2, run_until_killed), [1, -signal.SIGKILL])
        self.run_example(SCRIPT, "steps=24", processes=2, name="killed")
        self.assertEqual(self.steps("training", "killed", run=2)[0], 11)
        for file in self.latest("whole").glob("engine/*.pt"):
            with self.subTest(file=file.name):
                resumed = self.latest("killed") / "engine" / file.name
                self.assert_equal(torch.load(file), torch.load(resumed))

    def assert_equal(self, one, other):
        if isinstance(one, torch.Tensor):
            self.assertTrue(torch.equal(one, other))
        elif isinstance(one, dict):
            self.assertEqual(list(one), list(other))
            for name in one:
                self.assert_equal(one[name], other[name])
        else:
            self.assertEqual(one, other)

    def test_a_checkpoint_of_another_number_of_ranks_is_refused(self):
        self.run_example(SCRIPT, "steps=10", processes=2)
        with self.open_local() as ctx:
            with self.assertRaisesRegex(CheckpointError, "set slots_per_trial to 2"):
                Checkpoints(ctx, mock.Mock(global_steps=0)).restore()


class Configuration(FrameworkCase):
    def test_hyperparameters_override_the_deepspeed_configuration(self):
        section = {"optimizer": {"params": {"lr": 0.5}}, "fp16": {"enabled": True}}
        base = {"optimizer": {"type": "Adam", "params": {"lr": 0.1, "eps": 1}}, "steps": 3}
        with self.open_local(local_hparams={"deepspeed": section}) as ctx:
            expected = {
                "optimizer": {"type": "Adam", "params": {"lr": 0.5, "eps": 1}},
                "steps": 3,
                "fp16": {"enabled": True},
            }
            self.assertEqual(configuration(ctx, base), expected)
            broken = self.folder / "broken.json"
            broken.write_text("{")
            with self.assertRaisesRegex(ValueError, "not a DeepSpeed configuration in JSON"):
                configuration(ctx, broken)
        with self.open_local(local_hparams={"deepspeed": 3}) as ctx:
            with self.assertRaisesRegex(ValueError, "must be a section"):
                configuration(ctx, base)

    def test_a_missing_package_or_setting_is_named_in_the_error(self):
        def without():
            with mock.patch.dict(sys.modules, {"deepspeed": None}), self.open_local() as ctx:
                said = "^trainyard.deepspeed needs the package deepspeed.* 'pip install deepspeed'"
                with self.assertRaisesRegex(ImportError, said):
                    initialize(ctx, {})

        self.assertEqual(in_a_child(without), 0)


if __name__ == "__main__":
    unittest.main()
