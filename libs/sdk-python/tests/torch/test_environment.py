"""The environment of the tests in this folder, and what the SDK does with and without PyTorch at its import."""

from __future__ import annotations

import gc
import importlib
import os
import subprocess
import sys
import unittest
from pathlib import Path

import torch

from trainyard import pytorch

SRC = Path(__file__).parents[2] / "src"


class Environment(unittest.TestCase):
    def test_a_training_step_computes_the_same_bits_each_time(self) -> None:
        self.assertEqual(weights_after_a_step(), weights_after_a_step())

    def test_the_core_of_the_sdk_imports_no_torch(self) -> None:
        code = "import sys, trainyard; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
        environment = {**os.environ, "PYTHONPATH": str(SRC)}
        done = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
        self.assertEqual(done.returncode, 0)

    def test_the_garbage_collector_stops_searching_torch_when_the_sdk_imports_it(self) -> None:
        gc.unfreeze()
        self.assertTrue(is_searched(vars(torch)))
        importlib.reload(pytorch)
        self.assertFalse(is_searched(vars(torch)))


def is_searched(wanted: object) -> bool:
    return any(one is wanted for one in gc.get_objects())


def weights_after_a_step() -> list:
    torch.manual_seed(7)
    torch.set_num_threads(1)
    model = torch.nn.Linear(8, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.randn(4, 8)).square().mean().backward()
    optimizer.step()
    return model.weight.flatten().tolist()


if __name__ == "__main__":
    unittest.main()
