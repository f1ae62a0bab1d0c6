"""The environment of the tests in this folder, and that the SDK works without PyTorch."""

from __future__ import annotations

import os
import subprocess
import sys
import unittest
from pathlib import Path

import torch

SRC = Path(__file__).parents[2] / "src"


class Environment(unittest.TestCase):
    def test_a_training_step_computes_the_same_bits_each_time(self) -> None:
        self.assertEqual(weights_after_a_step(), weights_after_a_step())

    def test_tests_train_on_one_thread_of_the_cpu(self) -> None:
        self.assertEqual(torch.get_num_threads(), 1)
        self.assertFalse(torch.cuda.is_available())

    def test_the_core_of_the_sdk_imports_no_torch(self) -> None:
        code = "import sys, trainyard; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
        environment = {**os.environ, "PYTHONPATH": str(SRC)}
        done = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
        self.assertEqual(done.returncode, 0)


def weights_after_a_step() -> list:
    torch.manual_seed(7)
    model = torch.nn.Linear(8, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.randn(4, 8)).square().mean().backward()
    optimizer.step()
    return model.weight.flatten().tolist()


if __name__ == "__main__":
    unittest.main()
