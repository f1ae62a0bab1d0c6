"""Batches from tensors in memory equal the stacked samples."""

from __future__ import annotations

import itertools
import unittest
import unittest.mock

import torch
from torch.utils.data import TensorDataset, WeightedRandomSampler

from trainyard import pytorch


class TensorsInMemory(unittest.TestCase):
    def stacked(self, dataset, **options):
        """Returns the same batches from another kind of dataset, which is read sample by sample."""

        class Samples(TensorDataset):
            pass

        return self.given(Samples(*dataset.tensors), **options)

    def given(self, dataset, **options):
        loader = pytorch.DataLoader(dataset, batch_size=5, **options)
        return list(itertools.islice(loader.get_data_loader(repeat=True, skip=3, seed=6), 12))

    def assert_same(self, batches, others):
        for batch, other in zip(batches, others):
            self.assertIs(type(batch), type(other))
            for one, another in zip(batch, other):
                self.assertEqual(one.dtype, another.dtype)
                self.assertEqual(one.stride(), another.stride())
                self.assertTrue(torch.equal(one, another))

    def test_batches_of_tensors_equal_their_stacked_samples(self):
        images = torch.randn(23, 3, 4, 4).to(memory_format=torch.channels_last)
        across = torch.randn(6, 23).t()
        kinds = (torch.arange(23), torch.rand(23) < 0.5, torch.randn(23, 2).to(torch.bfloat16))
        dataset = TensorDataset(images, across, *kinds)
        for options in ({"shuffle": True}, {}, {"drop_last": True}):
            self.assert_same(self.given(dataset, **options), self.stacked(dataset, **options))

    def test_plain_tensors_are_not_read_sample_by_sample(self):
        class Watched(torch.Tensor):
            taken = 0

            def __getitem__(self, place):
                Watched.taken += 1
                return super().__getitem__(place)

        loader = pytorch.DataLoader(TensorDataset(torch.arange(20)), batch_size=5)
        with unittest.mock.patch.object(TensorDataset, "__getitem__", side_effect=AssertionError):
            self.assertEqual([len(rows) for (rows,) in loader], [5] * 4)
        # A tensor of a subclass is read sample by sample.
        self.given(TensorDataset(torch.arange(20).as_subclass(Watched)))
        self.assertEqual(Watched.taken, 60)

    def test_batches_come_from_tensors_that_a_dataset_has_replaced(self):
        dataset = TensorDataset(torch.arange(4))
        made = pytorch.DataLoader(dataset, batch_size=2).get_data_loader(repeat=True)
        dataset.tensors = (torch.arange(10, 14),)
        got = [rows.tolist() for (rows,) in itertools.islice(made, 2)]
        self.assertEqual(got, [[10, 11], [12, 13]])

    def test_a_users_collate_function_gets_samples(self):
        got = self.given(TensorDataset(torch.arange(20)), collate_fn=len)
        self.assertEqual(got, [5] * 12)
        weighted = WeightedRandomSampler([1.0] * 20, 20)
        dataset = TensorDataset(torch.arange(20))
        self.assert_same(
            self.given(dataset, sampler=weighted), self.stacked(dataset, sampler=weighted)
        )


if __name__ == "__main__":
    unittest.main()
