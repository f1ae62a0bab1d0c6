"""The example of the Core API in a plain loop with torch.distributed, started by torchrun."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import unittest
from unittest import mock

from killing import EXAMPLES, FrameworkCase, in_children, kill_myself, load_ahead

SCRIPT = "torchrun/train.py"


def setUpModule():
    """Imports torch here, so that listing the tests is fast."""
    global torch
    import torch

    load_ahead()


class Torchrun(FrameworkCase):
    def weights(self, name):
        return torch.load(self.latest(name) / "state.pth", weights_only=True)["model"]

    def test_the_example_runs_under_torchrun(self):
        command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TRAINYARD_LOCAL_DIR": str(self.folder / "here"),
        }
        arguments = ["--standalone", str(EXAMPLES / SCRIPT), "epochs=2"]
        done = subprocess.run(
            [*command, *arguments], env=environment, capture_output=True, text=True, timeout=360
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.steps("validation"), [40, 80])
        self.assertGreater(self.reports("validation")[-1]["metrics"]["accuracy"], 0.6)

    def test_the_killed_and_resumed_example_ends_with_the_same_weights(self):
        self.run_example(SCRIPT, "epochs=2", processes=2, name="whole")

        def run_until_killed():
            taken = []
            step = torch.optim.Adam.step

            def counted(optimizer, *arguments):
                taken.append(1)
                if len(taken) == 60 and os.environ["RANK"] == "1":
                    kill_myself()
                return step(optimizer, *arguments)

            with mock.patch.object(torch.optim.Adam, "step", counted):
                self.run_script(SCRIPT, "killed", "epochs=2")

        self.assertEqual(in_children(2, run_until_killed), [1, -signal.SIGKILL])
        self.run_example(SCRIPT, "epochs=2", processes=2, name="killed")
        self.assertEqual(self.steps("validation", "killed", run=2), [80])
        for parameter, values in self.weights("whole").items():
            self.assertTrue(torch.equal(values, self.weights("killed")[parameter]), parameter)

    def test_the_example_runs_in_a_single_process(self):
        self.run_example(SCRIPT, "epochs=1")
        self.assertEqual(self.steps("validation"), [80])


if __name__ == "__main__":
    unittest.main()
