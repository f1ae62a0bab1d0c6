"""examples/fsdp2, through the launcher: sharded over processes, and restored by another number."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[4]
SRC = ROOT / "libs" / "sdk-python" / "src"
SCRIPT = ROOT / "examples" / "fsdp2" / "train.py"
STEPS = 20


def environment(folder: Path) -> dict:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(SRC),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "TRAINYARD_LOCAL_DIR": str(folder),
    }


def train(folder: Path, slots: int, steps: int = STEPS) -> None:
    launcher = [sys.executable, "-m", "trainyard.launch.torch", f"--nproc-per-node={slots}"]
    done = subprocess.run(
        [*launcher, str(SCRIPT), f"steps={steps}"],
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
        timeout=360,
    )
    if done.returncode != 0:
        raise AssertionError(f"it ended with {done.returncode}\n{done.stdout}{done.stderr}")


def losses(folder: Path) -> dict:
    """Of all runs, by step."""
    found = {}
    for spool in sorted(folder.glob("run-*/spool/reports.ndjson")):
        for line in spool.read_text().splitlines():
            report = json.loads(line)
            if report["group"] == "training":
                found[report["stepsCompleted"]] = report["metrics"]["loss"]
    return found


class Fsdp2(unittest.TestCase):
    def test_interrupted_it_ends_as_if_it_had_not_been(self) -> None:
        with tempfile.TemporaryDirectory() as temporary:
            calm, broken, moved = (Path(temporary) / name for name in ("calm", "broken", "moved"))
            train(calm, slots=2)
            train(broken, slots=2, steps=STEPS // 2)
            shutil.copytree(broken, moved)
            train(broken, slots=2)
            self.assertEqual(losses(broken), losses(calm))
            self.assertEqual(len(losses(calm)), STEPS)
            with self.subTest("another number of processes goes on"):
                train(moved, slots=1)
                other = losses(moved)
                self.assertEqual(sorted(other), sorted(losses(calm)))
                for step, loss in losses(calm).items():
                    self.assertAlmostEqual(other[step], loss, delta=1e-4 * loss)


if __name__ == "__main__":
    unittest.main()
