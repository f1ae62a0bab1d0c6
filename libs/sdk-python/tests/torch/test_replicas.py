"""A trial in two processes is one training: its processes share gradients, metrics, stops and checkpoints."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import unittest

import replica_script
import torch
from ports import free_port
from training import TrainerCase

SIZE = 2


fork = multiprocessing.get_context("fork")


def rank_of(place, said, arguments):
    """Runs the script as one rank, with the rank's environment and stderr."""
    os.environ.update({name: str(value) for name, value in place.items()})
    with open(said, "w") as file:
        os.dup2(file.fileno(), 2)
    sys.argv = ["replica_script.py", *arguments]
    replica_script.main()


class Replicas(TrainerCase):
    def run_all(self, name, *arguments, size=SIZE):
        """Runs the script once for each rank, in forks of this process, which has imported PyTorch already.
        Returns the exit code and the stderr of each rank.
        """
        (self.folder / name).mkdir(exist_ok=True)
        port = free_port()
        processes, files = [], []
        for rank in range(size):
            place = {
                "RANK": rank,
                "WORLD_SIZE": size,
                "LOCAL_RANK": rank,
                "LOCAL_WORLD_SIZE": size,
                "GROUP_RANK": 0,
                "GROUP_WORLD_SIZE": 1,
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": port,
                "TRAINYARD_LOCAL_DIR": self.folder / name,
            }
            said = self.folder / f"{name}-{rank}.stderr"
            process = fork.Process(target=rank_of, args=(place, said, arguments))
            process.start()
            processes.append(process)
            files.append(said)
        for process in processes:
            process.join()
        return [process.exitcode for process in processes], [file.read_text() for file in files]

    def run_well(self, name, *arguments, size=SIZE):
        codes, said = self.run_all(name, *arguments, size=size)
        self.assertEqual(codes, [0] * size, "\n".join(said))
        return [
            json.loads((self.folder / name / f"said-{rank}.json").read_text())
            for rank in range(size)
        ]

    def weights(self, name, rank):
        return torch.load(self.folder / name / f"weights-{rank}.pt")

    def test_killed_and_resumed_replicas_equal_uninterrupted_ones(self):
        said = self.run_well("whole", "plain")
        # A step follows every third of the fourteen batches.
        self.assertEqual([rank["exchanges"] for rank in said], [4, 4])
        codes, _ = self.run_all("resumed", "dying", "7")
        self.assertEqual(codes[1], -9)
        self.assertNotEqual(codes[0], 0)
        # With a step every three batches, this checkpoint is within an accumulation.
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
        # With fewer processes the training differs, but it continues.
        (alone,) = self.run_well("whole", "longer", size=1)
        self.assertEqual(alone["batches"], 2)
        self.assertEqual(sorted(self.reports("whole", "validation")), [5, 10, 14, 15, 16])

    def test_a_stop_on_one_rank_stops_all_ranks_at_the_same_batch(self):
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
