"""The order of samples is a function of the seed and the epoch, on every rank and from any batch."""

from __future__ import annotations

import itertools
import random
import unittest

import torch
from torch.utils.data import (
    BatchSampler,
    Dataset,
    IterableDataset,
    RandomSampler,
    TensorDataset,
    WeightedRandomSampler,
)
from torch.utils.data.distributed import DistributedSampler

from trainyard import pytorch


class Numbers(Dataset):
    """A dataset whose sample i is i, and which records the loaded samples."""

    def __init__(self, size):
        self.size = size
        self.loaded = []

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        if not 0 <= index < self.size:
            raise IndexError(index)
        self.loaded.append(index)
        return index


class Counting(IterableDataset):
    def __init__(self, size):
        self.size = size
        self.epoch = 0

    def __len__(self):
        return self.size

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        return (self.epoch * 1000 + i for i in range(self.size))


class Endless(IterableDataset):
    def __iter__(self):
        return itertools.count()


def batches(loader, count=None, **options):
    made = loader.get_data_loader(**options)
    return [batch.tolist() for batch in itertools.islice(made, count)]


def steps(loader, ranks, count, seed=7, skip=0):
    """Returns the global batch of each step, as sorted samples."""
    of_rank = [
        batches(loader, count, repeat=True, skip=skip, num_replicas=ranks, rank=rank, seed=seed)
        for rank in range(ranks)
    ]
    return [sorted(itertools.chain.from_iterable(step)) for step in zip(*of_rank)]


class TrainingOrder(unittest.TestCase):
    def test_several_ranks_have_the_same_global_batches_as_one_process(self):
        for size in (64, 72, 76):
            one = pytorch.DataLoader(Numbers(size), batch_size=16, shuffle=True)
            four = pytorch.DataLoader(Numbers(size), batch_size=4, shuffle=True)
            self.assertEqual(steps(one, 1, 15), steps(four, 4, 15))

    def test_each_epoch_has_every_sample_once_in_another_order(self):
        loader = pytorch.DataLoader(Numbers(10), batch_size=4, shuffle=True)
        got = batches(loader, 6, repeat=True, seed=3)
        epochs = [list(itertools.chain(*got[:3])), list(itertools.chain(*got[3:]))]
        self.assertEqual([sorted(epoch) for epoch in epochs], [list(range(10))] * 2)
        self.assertNotEqual(*epochs)

    def test_the_order_of_samples_depends_on_the_seed(self):
        loader = pytorch.DataLoader(Numbers(50), batch_size=10, shuffle=True)
        again = [batches(loader, 9, repeat=True, seed=1) for _ in range(2)]
        self.assertEqual(*again)
        self.assertNotEqual(batches(loader, 5, seed=1), batches(loader, 5, seed=2))

    def test_a_rank_without_a_share_of_the_last_batch_takes_a_first_sample(self):
        loader = pytorch.DataLoader(Numbers(10), batch_size=2)
        got = [batches(loader, 2, repeat=True, num_replicas=4, rank=rank) for rank in range(4)]
        self.assertEqual(got, [[[0, 1], [8]], [[2, 3], [9]], [[4, 5], [0]], [[6, 7], [1]]])

    def test_drop_last_drops_the_smaller_global_batch(self):
        loader = pytorch.DataLoader(Numbers(10), batch_size=2, drop_last=True)
        made = loader.get_data_loader(repeat=True, num_replicas=2, rank=1)
        self.assertEqual(len(made), 2)
        self.assertEqual([b.tolist() for b in itertools.islice(made, 3)], [[2, 3], [6, 7], [2, 3]])

    def test_loading_can_start_at_any_batch_and_loads_no_skipped_sample(self):
        for skip in (0, 1, 3, 4, 11):
            numbers = Numbers(14)
            loader = pytorch.DataLoader(numbers, batch_size=2, shuffle=True)
            whole = batches(loader, 20, repeat=True, num_replicas=2, rank=1, seed=5)
            numbers.loaded.clear()
            rest = batches(loader, 3, repeat=True, skip=skip, num_replicas=2, rank=1, seed=5)
            self.assertEqual(rest, whole[skip : skip + 3])
            self.assertEqual(numbers.loaded, list(itertools.chain(*rest)))

    def test_loading_does_not_use_the_global_random_generators(self):
        weights = WeightedRandomSampler([1.0] * 8, 8)
        for options in ({"shuffle": True}, {"sampler": weights}, {"num_workers": 1}):
            before = (torch.get_rng_state(), random.getstate())
            batches(pytorch.DataLoader(Numbers(8), batch_size=2, **options), 6, repeat=True)
            self.assertTrue(torch.equal(before[0], torch.get_rng_state()))
            self.assertEqual(before[1], random.getstate())


class Samplers(unittest.TestCase):
    def test_the_order_of_a_random_sampler_depends_on_seed_and_epoch(self):
        own = torch.Generator()
        for sampler in (
            WeightedRandomSampler([1.0, 2.0] * 10, 20),
            WeightedRandomSampler([1.0, 2.0] * 10, 20, generator=own),
            RandomSampler(range(20), replacement=True, num_samples=20),
        ):
            loader = pytorch.DataLoader(Numbers(20), batch_size=4, sampler=sampler)
            whole = batches(loader, 12, repeat=True, seed=2)
            self.assertEqual(batches(loader, 4, repeat=True, skip=7, seed=2), whole[7:11])
            self.assertNotEqual(whole[:5], whole[5:10])
            parts = [
                batches(loader, 3, repeat=True, num_replicas=5, rank=rank, seed=2)
                for rank in range(5)
            ]
            first = itertools.chain.from_iterable(part[0] for part in parts)
            self.assertEqual(list(first), list(itertools.chain(*whole[:5])))

    def test_batches_of_a_batch_sampler_are_divided_among_ranks(self):
        own = [[0], [1, 2], [3, 4, 5], [6, 7], [8]]
        loader = pytorch.DataLoader(Numbers(9), batch_sampler=own)
        self.assertEqual(len(loader), 5)
        got = [batches(loader, 4, repeat=True, num_replicas=2, rank=rank) for rank in (0, 1)]
        self.assertEqual(got[0], [[0], [3, 4, 5], [8], [0]])
        self.assertEqual(got[1], [[1, 2], [6, 7], [0], [1, 2]])

    def test_a_torch_batch_sampler_is_replaced_by_its_sampler(self):
        sampler = BatchSampler(RandomSampler(range(64)), 4, False)
        loader = pytorch.DataLoader(Numbers(64), batch_sampler=sampler)
        same = pytorch.DataLoader(Numbers(64), batch_size=16, shuffle=True)
        self.assertEqual(steps(loader, 4, 9), steps(same, 1, 9))

    def test_samples_that_are_batches_are_divided_among_ranks(self):
        loader = pytorch.DataLoader(TensorDataset(torch.arange(12).view(4, 3)), batch_size=None)
        made = loader.get_data_loader(repeat=True, num_replicas=2, rank=1)
        got = [batch[0].tolist() for batch in itertools.islice(made, 3)]
        self.assertEqual(got, [[3, 4, 5], [9, 10, 11], [3, 4, 5]])

    def test_set_epoch_of_a_sampler_is_called(self):
        class Rotated:
            def set_epoch(self, epoch):
                self.epoch = epoch

            def __len__(self):
                return 4

            def __iter__(self):
                return iter([(self.epoch + i) % 4 for i in range(4)])

        loader = pytorch.DataLoader(Numbers(4), batch_size=4, sampler=Rotated())
        self.assertEqual(batches(loader, 2, repeat=True, skip=5), [[1, 2, 3, 0], [2, 3, 0, 1]])

    def test_a_sampler_with_a_wrong_length_raises(self):
        class Wrong:
            def __init__(self, given):
                self.given = given

            def __len__(self):
                return 3

            def __iter__(self):
                return iter(self.given)

        for given, told in ((range(2), "gave 2:"), (itertools.count(), "gave more:")):
            loader = pytorch.DataLoader(Numbers(9), sampler=Wrong(given))
            with self.assertRaisesRegex(ValueError, told):
                batches(loader, 1)

    def test_from_torch_describes_an_existing_loader(self):
        theirs = torch.utils.data.DataLoader(Numbers(64), batch_size=4, shuffle=True)
        ours = pytorch.DataLoader(Numbers(64), batch_size=4, shuffle=True)
        described = pytorch.DataLoader.from_torch(theirs)
        self.assertEqual(steps(described, 4, 9), steps(ours, 4, 9))
        with self.assertRaisesRegex(TypeError, "from_torch takes"):
            pytorch.DataLoader.from_torch([1, 2])


class Validation(unittest.TestCase):
    def test_in_validation_exactly_one_rank_has_each_sample(self):
        for size, ranks in itertools.product((1, 7, 8, 9, 16, 31), (1, 2, 3, 4)):
            loader = pytorch.DataLoader(Numbers(size), batch_size=2)
            one = batches(loader)
            got = []
            for rank in range(ranks):
                made = loader.get_data_loader(num_replicas=ranks, rank=rank)
                mine = [batch.tolist() for batch in made]
                self.assertEqual(len(made), len(mine))
                got += mine
            self.assertEqual(sorted(got), one)

    def test_in_validation_drop_last_drops_the_same_batch_as_one_process(self):
        loader = pytorch.DataLoader(Numbers(11), batch_size=2, drop_last=True)
        got = [batches(loader, num_replicas=4, rank=rank) for rank in range(4)]
        self.assertEqual(sorted(itertools.chain(*got)), batches(loader))
        self.assertEqual(len(loader), 5)

    def test_a_description_can_be_iterated_over_and_reshuffles(self):
        torch.manual_seed(0)
        loader = pytorch.DataLoader(Numbers(20), batch_size=5, shuffle=True)
        passes = [[batch.tolist() for batch in loader] for _ in range(2)]
        self.assertNotEqual(*passes)
        self.assertEqual(len(loader), 4)


class Streams(unittest.TestCase):
    def test_ranks_share_every_global_batch_of_a_stream(self):
        for size in (24, 28):
            one = pytorch.DataLoader(Counting(size), batch_size=8)
            four = pytorch.DataLoader(Counting(size), batch_size=2)
            self.assertEqual(steps(one, 1, 9), steps(four, 4, 9))

    def test_a_stream_can_start_at_any_batch(self):
        for workers in (0, 1):
            loader = pytorch.DataLoader(Counting(10), batch_size=2, num_workers=workers)
            whole = batches(loader, 9, repeat=True, num_replicas=2, rank=1)
            made = loader.get_data_loader(repeat=True, skip=4, num_replicas=2, rank=1)
            self.assertEqual(len(made), 3)
            self.assertEqual([b.tolist() for b in itertools.islice(made, 5)], whole[4:])

    def test_in_validation_of_a_stream_one_rank_has_each_sample(self):
        loader = pytorch.DataLoader(Counting(11), batch_size=2)
        got = [batches(loader, num_replicas=4, rank=rank) for rank in range(4)]
        self.assertEqual(sorted(itertools.chain(*got)), batches(loader))
        made = loader.get_data_loader(num_replicas=4, rank=2)
        self.assertEqual(len(made), len(list(made)))

    def test_a_stream_without_a_length_can_be_read_but_has_no_epochs(self):
        loader = pytorch.DataLoader(Endless(), batch_size=2)
        made = loader.get_data_loader(repeat=True, num_replicas=2, rank=1)
        self.assertEqual([b.tolist() for b in itertools.islice(made, 2)], [[2, 3], [6, 7]])
        for measured in (made, loader):
            with self.assertRaisesRegex(TypeError, "give Endless a __len__"):
                len(measured)

    def test_a_stream_with_more_than_one_worker_is_refused(self):
        with self.assertRaisesRegex(ValueError, "can be 0 or 1"):
            pytorch.DataLoader(Counting(4), num_workers=2)

    def test_a_stream_that_cannot_be_read_twice_raises(self):
        class Once(IterableDataset):
            def __init__(self):
                self.rest = iter([1, 2])

            def __iter__(self):
                return self.rest

        with self.assertRaisesRegex(ValueError, "gave no batch in epoch 1"):
            batches(pytorch.DataLoader(Once()), 3, repeat=True)


class Errors(unittest.TestCase):
    def assert_says(self, kind, text, call):
        with self.assertRaisesRegex(kind, text):
            call()

    def test_too_few_samples_for_a_global_batch_raise(self):
        loader = pytorch.DataLoader(Numbers(7), batch_size=2, drop_last=True)
        self.assert_says(
            ValueError,
            "7 samples make no batch of 2 on each of 4 slots.* or drop_last=False",
            lambda: loader.get_data_loader(repeat=True, num_replicas=4, rank=0),
        )

    def test_a_distributed_sampler_is_refused(self):
        sampler = DistributedSampler(Numbers(8), num_replicas=2, rank=0)
        loader = pytorch.DataLoader(Numbers(8), sampler=sampler)
        self.assert_says(ValueError, "takes no DistributedSampler", loader.get_data_loader)

    def test_a_dataset_without_a_length_is_refused(self):
        class Unsized(Dataset):
            def __getitem__(self, index):
                return index

        loader = pytorch.DataLoader(Unsized())
        self.assert_says(TypeError, "give Unsized a __len__", loader.get_data_loader)

    def test_an_invalid_rank_or_skip_is_refused(self):
        loader = pytorch.DataLoader(Numbers(8))
        self.assert_says(ValueError, "rank", lambda: loader.get_data_loader(rank=1))
        self.assert_says(ValueError, "skip", lambda: loader.get_data_loader(skip=-1))

    def test_contradictory_arguments_of_a_loader_raise(self):
        with self.assertRaises(ValueError):
            pytorch.DataLoader(Numbers(8), shuffle=True, sampler=range(8))


class Batches(unittest.TestCase):
    def test_data_length_is_the_length_of_the_first_tensor_or_list(self):
        tensor = torch.zeros(3, 2)
        for batch in (tensor, tensor.numpy(), [tensor, 1], {"x": tensor}, ("a", [{"y": tensor}])):
            self.assertEqual(pytorch.data_length(batch), 3)
        self.assertEqual(pytorch.data_length(["a", "b"]), 2)
        with self.assertRaisesRegex(TypeError, "override get_batch_length"):
            pytorch.data_length("text")

    def test_to_device_moves_tensors_and_warns_once_of_other_types(self):
        array = torch.ones(2).numpy()
        with self.assertLogs("trainyard.pytorch", "WARNING") as logs:
            moved = pytorch.to_device({"a": [array, "text", "more"], "b": (torch.ones(1),)}, "cpu")
        self.assertEqual(len(logs.records), 1)
        self.assertIsInstance(moved["a"][0], torch.Tensor)
        self.assertEqual(moved["a"][1:], ["text", "more"])
        self.assertIsInstance(moved["b"], tuple)


class Building(unittest.TestCase):
    """The samplers that wrap each other."""

    def test_samplers_can_wrap_each_other(self):
        samplers = pytorch.samplers
        shuffled = samplers.ReproducibleShuffleSampler(range(8), seed=1)
        repeated = samplers.RepeatSampler(shuffled)
        mine = samplers.DistributedSampler(repeated, 2, 1)
        rest = samplers.SkipSampler(mine, 2)
        same = samplers.ReproducibleShuffleSampler(range(8), seed=1)
        whole = list(same) + list(same)
        self.assertEqual(list(itertools.islice(rest, 6)), whole[1::2][2:8])
        self.assertEqual([len(s) for s in (shuffled, repeated, mine, rest)], [8, 8, 4, 4])

    def test_batch_samplers_can_wrap_each_other(self):
        batch_sampler = BatchSampler(range(10), 2, False)
        adapted = pytorch.adapt_batch_sampler(
            batch_sampler, repeat=True, skip=1, num_replicas=2, rank=1
        )
        self.assertEqual(list(itertools.islice(adapted, 3)), [[6, 7], [0, 1], [4, 5]])
        self.assertEqual(len(adapted), 3)
        shuffled = pytorch.samplers.ReproducibleShuffleBatchSampler(batch_sampler, 4)
        self.assertEqual(sorted(shuffled), list(batch_sampler))
        with self.assertRaisesRegex(ValueError, "rank must be"):
            pytorch.samplers.DistributedBatchSampler(batch_sampler, 2, 2)


if __name__ == "__main__":
    unittest.main()
