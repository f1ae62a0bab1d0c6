"""Tests of examples/fsdp2: sharded over processes, and restored with another number of processes. It trains in forked
processes, because importing PyTorch again would take longer than the training; test/e2e/two-agents/fsdp2.ts runs it
under the launcher.
"""

from __future__ import annotations

import importlib
import json
import shutil
import unittest
from pathlib import Path

from killing import FrameworkCase, load_ahead

SCRIPT = "fsdp2/train.py"
STEPS = 20


def setUpModule() -> None:
    """Imports torch once for all forked processes; listing the tests stays fast."""
    load_ahead()
    for module in ("checkpoint.state_dict", "device_mesh", "fsdp"):
        importlib.import_module(f"torch.distributed.{module}")


def losses(folder: Path) -> dict:
    """Returns the losses of all runs by step."""
    found = {}
    for spool in sorted(folder.glob("run-*/spool/reports.ndjson")):
        for line in spool.read_text().splitlines():
            report = json.loads(line)
            if report["group"] == "training":
                found[report["stepsCompleted"]] = report["metrics"]["loss"]
    return found


class Fsdp2(FrameworkCase):
    def train(self, name: str, processes: int, steps: int = STEPS) -> None:
        self.run_example(SCRIPT, f"steps={steps}", processes=processes, name=name)

    def test_an_interrupted_fsdp2_training_ends_like_an_uninterrupted_one(self) -> None:
        calm, broken, moved = (self.folder / name for name in ("calm", "broken", "moved"))
        self.train("calm", processes=2)
        self.train("broken", processes=2, steps=STEPS // 2)
        shutil.copytree(broken, moved)
        self.train("broken", processes=2)
        self.assertEqual(losses(broken), losses(calm))
        self.assertEqual(len(losses(calm)), STEPS)
        with self.subTest("another number of processes continues"):
            self.train("moved", processes=1)
            other = losses(moved)
            self.assertEqual(sorted(other), sorted(losses(calm)))
            for step, loss in losses(calm).items():
                self.assertAlmostEqual(other[step], loss, delta=1e-4 * loss)


if __name__ == "__main__":
    unittest.main()
