"""A trial in two processes is one training, whose gradients, metrics, stops and checkpoints are
shared.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import unittest
from pathlib import Path

import torch
from training import TrainerCase

import trainyard

SCRIPT = Path(__file__).with_name("replica_script.py")
SRC = Path(trainyard.__file__).parents[1]
SIZE = 2


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Replicas(TrainerCase):
    def start(self, name, *arguments):
        """Starts the script once for each rank, as a launcher does."""
        (self.folder / name).mkdir(exist_ok=True)
        port = free_port()
        processes = []
        for rank in range(SIZE):
            place = {
                "RANK": rank,
                "WORLD_SIZE": SIZE,
                "LOCAL_RANK": rank,
                "LOCAL_WORLD_SIZE": SIZE,
                "GROUP_RANK": 0,
                "GROUP_WORLD_SIZE": 1,
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": port,
                "TRAINYARD_LOCAL_DIR": self.folder / name,
                "PYTHONPATH": SRC,
            }
            processes.append(
                subprocess.Popen(
                    [sys.executable, "-W", "error", str(SCRIPT), *arguments],
                    env={**os.environ, **{key: str(value) for key, value in place.items()}},
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
        return processes

    def run_all(self, name, *arguments):
        """Returns how each rank ended and what it said on stderr."""
        processes = self.start(name, *arguments)
        said = [process.communicate(timeout=120)[1] for process in processes]
        return [process.returncode for process in processes], said

    def run_well(self, name, *arguments):
        codes, said = self.run_all(name, *arguments)
        self.assertEqual(codes, [0] * SIZE, "\n".join(said))
        return [
            json.loads((self.folder / name / f"said-{rank}.json").read_text())
            for rank in range(SIZE)
        ]

    def weights(self, name, rank):
        return torch.load(self.folder / name / f"weights-{rank}.pt")

    def test_killed_and_resumed_is_the_one_that_was_not_disturbed(self):
        said = self.run_well("whole", "plain")
        # Fourteen batches, of which every third takes a step.
        self.assertEqual([rank["exchanges"] for rank in said], [4, 4])
        codes, _ = self.run_all("resumed", "dying", "7")
        self.assertEqual(codes[1], -9)
        self.assertNotEqual(codes[0], 0)
        # With three batches a step, this one is in the middle of it.
        self.assertEqual(self.checkpoints("resumed")[-1], 6)
        self.run_well("resumed", "plain")
        for rank in range(SIZE):
            whole, resumed = self.weights("whole", rank), self.weights("resumed", rank)
            for key in whole:
                self.assertTrue(torch.equal(whole[key], resumed[key]), (rank, key))
        trained = [name for name in whole if "running" not in name]
        for key in trained:
            self.assertTrue(torch.equal(self.weights("whole", 0)[key], whole[key]), key)
        for group in ("training", "validation"):
            found = self.reports("whole", group)
            self.assertEqual(found, self.reports("resumed", group))
        self.assertEqual(sorted(found), [5, 10, 14])

    def test_one_rank_stops_all_at_the_same_batch(self):
        said = self.run_well("stopped", "stopping")
        self.assertEqual(said[0]["batches"], said[1]["batches"])
        self.assertGreater(said[0]["batches"], 5)
        self.assertEqual(self.checkpoints("stopped"), [said[0]["batches"]])

    def test_models_that_differ_are_refused_on_every_rank(self):
        codes, said = self.run_all("mismatched", "mismatched")
        self.assertEqual(codes, [1, 1])
        for text in said:
            self.assertIn(
                "wrap_model(): 0.weight is [8, 3] of float32 on rank 0 and [9, 3] of float32 on rank "
                "1: build the same model on every rank",
                text,
            )


if __name__ == "__main__":
    unittest.main()
