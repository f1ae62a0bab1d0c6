"""One process with batches of 64 and four with batches of 16 train alike: on one host, in forked processes, which saves
importing PyTorch in each, and under two launchers that represent two agents.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
from contextlib import AbstractContextManager
from pathlib import Path
from unittest import mock

import scaling_trial
from killing import in_a_child, in_children
from ports import free_port

SCRIPT = Path(__file__).parent / "scaling_trial.py"
SRC = Path(__file__).parents[2] / "src"
# Two epochs.
BATCHES = 22
TOLERANCE = 1e-4
LIMIT_S = 480


def start(folder: Path, node: int, port: int) -> subprocess.Popen:
    """Starts the launcher of one of two nodes of two slots each."""
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(SRC),
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": "1",
        "TRAINYARD_LOCAL_DIR": str(folder),
        "TRAINYARD_DISTRIBUTED_SECRET": "of this test",
    }
    options = ["--nproc-per-node=2", "--nnodes=2", f"--node-rank={node}", f"--master-port={port}"]
    return subprocess.Popen(
        [sys.executable, "-m", "trainyard.launch.torch", *options, str(SCRIPT), str(BATCHES)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


class WeakScaling(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        with cls.environment("one"):
            assert in_a_child(lambda: scaling_trial.main(BATCHES)) == 0
        cls.one = reported(cls.folder / "one")

    @classmethod
    def environment(cls, name: str) -> AbstractContextManager:
        return mock.patch.dict(os.environ, TRAINYARD_LOCAL_DIR=str(cls.folder / name))

    def assert_like_one(self, name: str) -> None:
        other = reported(self.folder / name)
        self.assertEqual(sorted(other), sorted(self.one))
        self.assertEqual(len([key for key in other if key[0] == "training"]), BATCHES)
        for key, metrics in self.one.items():
            self.assertEqual(sorted(other[key]), sorted(metrics))
            for metric, value in metrics.items():
                self.assertAlmostEqual(other[key][metric], value, delta=TOLERANCE * abs(value))

    def test_four_processes_of_one_agent_train_like_one_process(self) -> None:
        with self.environment("four"):
            ended = in_children(4, lambda: scaling_trial.main(BATCHES))
        self.assertEqual(ended, [0, 0, 0, 0])
        self.assert_like_one("four")

    def test_two_processes_on_each_of_two_agents_train_like_one_process(self) -> None:
        folder, port = self.folder / "two-and-two", free_port()
        launchers = [start(folder, node, port) for node in (0, 1)]
        for launcher in launchers:
            output, _ = launcher.communicate(timeout=LIMIT_S)
            self.assertEqual(launcher.returncode, 0, output)
        self.assert_like_one("two-and-two")


def reported(folder: Path) -> dict:
    """Returns the metrics of a run's reports, by group and step."""
    found = {}
    for spool in folder.glob("run-*/spool/reports.ndjson"):
        for line in spool.read_text().splitlines():
            report = json.loads(line)
            found[report["group"], report.get("stepsCompleted", 0)] = report["metrics"]
    return {key: found[key] for key in found if key[0] in ("training", "validation")}


if __name__ == "__main__":
    unittest.main()
