"""Replicas exchange gradients while others are still computed, in the same order in each run."""

from __future__ import annotations

import unittest
from typing import Any

import torch
from torch import nn

from trainyard import _distributed
from trainyard.pytorch import _models


class Buckets(unittest.TestCase):
    def setUp(self):
        store = torch.distributed.HashStore()
        torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
        self.addCleanup(torch.distributed.destroy_process_group)

    def exchanged(self, **arguments):
        """Returns the layers in the order in which their gradients were exchanged, for each of three batches."""
        model = nn.Sequential(*(nn.Linear(256, 256) for _ in range(4)))
        layers = {id(one): n for n, layer in enumerate(model) for one in layer.parameters()}
        replica: Any = _models.replicate(
            model,
            torch.device("cpu"),
            _distributed._context.alone(),
            {"bucket_cap_mb": 0.5, **arguments},
        )
        found = []

        def note(_, bucket):
            found[-1].append(sorted({layers[id(one)] for one in bucket.parameters()}))
            future = torch.futures.Future[torch.Tensor]()
            future.set_result(bucket.buffer())
            return future

        replica.register_comm_hook(None, note)
        for _ in range(3):
            found.append([])
            replica(torch.ones(2, 256)).sum().backward()
        return found

    def test_gradients_are_exchanged_in_the_order_in_which_they_are_computed(self):
        for arguments in ({}, {"gradient_as_bucket_view": True}, {"find_unused_parameters": True}):
            with self.subTest(arguments):
                first, second, third = self.exchanged(**arguments)
                self.assertEqual(first, second)
                self.assertEqual(second, third)
                self.assertGreater(len(first), 1)
                self.assertEqual(max(first[0]), 3)
                self.assertEqual(min(first[-1]), 0)
                self.assertNotIn(0, first[0])


if __name__ == "__main__":
    unittest.main()
