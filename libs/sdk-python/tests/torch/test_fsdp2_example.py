"""Tests of examples/fsdp2: sharded over processes, and restored with another number of processes.

The uninterrupted training runs under the launcher. The others run in forked processes, which must not change the
result and which saves importing PyTorch in each process.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from killing import FrameworkCase, load_ahead

ROOT = Path(__file__).parents[4]
SRC = ROOT / "libs" / "sdk-python" / "src"
SCRIPT = ROOT / "examples" / "fsdp2" / "train.py"
STEPS = 20


def setUpModule() -> None:
    """Imports torch once for all forked processes; listing the tests stays fast."""
    importlib.import_module("torch").set_num_threads(1)
    load_ahead()
    for module in ("checkpoint.state_dict", "device_mesh", "fsdp"):
        importlib.import_module(f"torch.distributed.{module}")


def environment(folder: Path) -> dict:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(SRC),
        "OMP_NUM_THREADS": "1",
        "TRAINYARD_LOCAL_DIR": str(folder),
    }


def launch(folder: Path, slots: int) -> None:
    launcher = [sys.executable, "-m", "trainyard.launch.torch", f"--nproc-per-node={slots}"]
    done = subprocess.run(
        [*launcher, str(SCRIPT), f"steps={STEPS}"],
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
        timeout=360,
    )
    if done.returncode != 0:
        raise AssertionError(f"it ended with {done.returncode}\n{done.stdout}{done.stderr}")


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
        script = str(SCRIPT.relative_to(ROOT / "examples"))
        self.run_example(script, f"steps={steps}", processes=processes, name=name)

    def test_an_interrupted_fsdp2_training_ends_like_an_uninterrupted_one(self) -> None:
        calm, broken, moved = (self.folder / name for name in ("calm", "broken", "moved"))
        launch(calm, slots=2)
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
