"""Checkpoints are written in the background, and contain the state of the time when they were requested."""

from __future__ import annotations

import collections
import threading
import unittest
from typing import Any
from unittest import mock

import torch
from training import LineTrial, TrainerCase

from trainyard import pytorch
from trainyard.pytorch.checkpointing import _files
from trainyard.pytorch.checkpointing._copy import copied


class Storing(TrainerCase):
    def test_the_training_continues_while_a_checkpoints_files_are_written(self):
        go_on = threading.Event()
        write = _files.write

        def slow(*arguments):
            if not go_on.wait(120):
                raise AssertionError("training waits for the files")
            write(*arguments)

        class Releasing(LineTrial):
            def train_batch(self, batch, epoch_idx, batch_idx):
                if batch_idx == 6:
                    go_on.set()
                return super().train_batch(batch, epoch_idx, batch_idx)

        fit = {"max_length": pytorch.Batch(8), "checkpoint_period": pytorch.Batch(4)}
        with mock.patch.object(_files, "write", slow):
            self.train(Releasing, **fit)
        self.assertEqual(self.checkpoints(), [4, 8])
        # The checkpoint that is written during batches 4 to 6 has the state after batch 4.
        first = self.checkpoint_folders()[0]
        short = self.train(name="b", max_length=pytorch.Batch(4))
        stored = torch.load(first / "state_dict.pth", weights_only=False)
        for key, value in short.model.state_dict().items():
            self.assertTrue(torch.equal(value, stored["models_state_dict"][0][key]), key)

    def checkpoint_folders(self):
        folders = [path for path in (self.folder / "a/checkpoints").iterdir() if path.is_dir()]
        return sorted(folders, key=lambda path: self.step_of(path))

    def step_of(self, folder):
        return torch.load(folder / "state_dict.pth", weights_only=False)["counters"]["batches"]

    def test_a_copied_state_has_the_type_and_attributes_of_the_original(self):
        state: Any = torch.nn.BatchNorm1d(2).state_dict()
        made = copied(state)
        self.assertEqual(made._metadata, state._metadata)
        counted = copied({"a": collections.defaultdict(list, x=[torch.ones(1)])})
        self.assertEqual(counted["a"]["y"], [])

    def test_an_error_of_a_background_store_is_raised_in_the_training(self):
        with mock.patch.object(_files, "write", side_effect=OSError("the disk is full")):
            with self.assertRaisesRegex(OSError, "the disk is full"):
                self.train(checkpoint_period=pytorch.Batch(2))

    def test_upload_hooks_run_in_the_main_thread_between_batches(self):
        found = []

        class Told(pytorch.PyTorchCallback):
            def on_checkpoint_upload_end(self, uuid):
                found.append((uuid, threading.current_thread() is threading.main_thread()))

        kind = type("Telling", (LineTrial,), {"build_callbacks": lambda _: {"told": Told()}})
        self.train(kind, checkpoint_period=pytorch.Batch(4))
        self.assertEqual(len(found), 3)
        self.assertEqual(found[-1], (self.latest().name, True))
        self.assertTrue(all(main for _, main in found))

    def test_a_training_that_fails_leaves_a_complete_checkpoint(self):
        self.killed_at(5, checkpoint_period=pytorch.Batch(5))
        self.assertEqual(self.checkpoints(), [5])


class Copies(unittest.TestCase):
    def test_copies_do_not_change_with_their_originals(self):
        tensor = torch.arange(3.0)
        state = {"a": [tensor, (1, "x", None)], "b": {"c": tensor.double()}, 5: True}
        found = copied(state)
        tensor.zero_()
        self.assertEqual(found["a"][0].tolist(), [0, 1, 2])
        self.assertEqual(found["a"][1], (1, "x", None))
        self.assertEqual((found["b"]["c"].dtype, found[5]), (torch.float64, True))

    def test_copies_of_tensors_that_share_memory_share_memory(self):
        tied = torch.zeros(4)
        found = copied({"a": tied.detach(), "b": tied.detach(), "c": tied[:2]})
        self.assertEqual(found["a"].data_ptr(), found["b"].data_ptr())
        self.assertNotEqual(found["a"].data_ptr(), found["c"].data_ptr())

    def test_copies_keep_the_memory_layout(self):
        one = torch.rand(2, 3, 4, 4).contiguous(memory_format=torch.channels_last)
        found = copied({"one": one, "part": torch.rand(4, 4).t(), "empty": torch.empty(0, 3)})
        self.assertTrue(found["one"].is_contiguous(memory_format=torch.channels_last))
        self.assertTrue(torch.equal(found["one"], one))
        self.assertEqual(list(found["empty"].shape), [0, 3])


if __name__ == "__main__":
    unittest.main()
