"""Random numbers that are drawn while data is loaded do not depend on worker processes or interruptions."""

from __future__ import annotations

import itertools
import random
import unittest

import torch
from test_data import Counting, Numbers
from torch.utils.data import (
    BatchSampler,
    Dataset,
    IterableDataset,
    SequentialSampler,
    get_worker_info,
)

from trainyard import pytorch


class Noisy(Dataset):
    """A dataset that draws random numbers for its samples, like augmentations."""

    def __len__(self):
        return 24

    def __getitem__(self, index):
        assert get_worker_info() is not None
        return index, random.random(), torch.rand(()).item()


def loaded(loader, skip, rank=0, replicas=1):
    return loader.get_data_loader(repeat=True, skip=skip, num_replicas=replicas, rank=rank, seed=4)


class Shuffling(IterableDataset):
    def __len__(self):
        return 12

    def __iter__(self):
        order = list(range(12))
        random.shuffle(order)
        return iter(order)


class LoadingProcesses(unittest.TestCase):
    def test_random_numbers_depend_on_neither_worker_count_nor_interruption(self):
        def drawn(workers, skip, count):
            loader = pytorch.DataLoader(
                Noisy(), batch_size=4, shuffle=True, num_workers=workers, collate_fn=list
            )
            made = loader.get_data_loader(repeat=True, skip=skip, seed=4)
            return list(itertools.islice(made, count))

        whole = drawn(1, 0, 9)
        self.assertEqual(drawn(2, 0, 9), whole)
        self.assertEqual(drawn(2, 5, 3), whole[5:8])
        self.assertEqual(len({draw for batch in whole for draw in batch}), 36)

    def test_random_numbers_of_each_unit_are_equal_with_any_number_of_workers(self):
        class Tuples(BatchSampler):
            def __iter__(self):
                return (tuple(batch) for batch in super().__iter__())

        def drawing(samples):
            return [random.random() for _ in samples]

        def at_once(noisy, indices):
            drawn = random.random()
            return [drawn + n for n in torch.tensor(indices).tolist()]

        by_four = BatchSampler(SequentialSampler(Noisy()), 4, False)
        together = type("Together", (Noisy,), {"__getitems__": at_once})()
        described = {
            "tuples": lambda n: pytorch.DataLoader(
                Noisy(),
                batch_sampler=Tuples(by_four.sampler, 4, False),
                num_workers=n,
                collate_fn=list,
            ),
            "samples that are batches": lambda n: pytorch.DataLoader(
                Noisy(), batch_size=None, num_workers=n
            ),
            "read together": lambda n: pytorch.DataLoader(
                together, batch_size=4, num_workers=n, collate_fn=list
            ),
            "drawn in collate_fn": lambda n: pytorch.DataLoader(
                Numbers(40), batch_size=4, num_workers=n, collate_fn=drawing
            ),
            "a stream": lambda n: pytorch.DataLoader(
                Counting(40), batch_size=4, num_workers=min(n, 1), collate_fn=drawing
            ),
        }
        for name, describe in described.items():
            with self.subTest(name):
                whole = list(itertools.islice(loaded(describe(1), 0), 9))
                self.assertEqual(list(itertools.islice(loaded(describe(2), 5), 3)), whole[5:8])

    def test_a_stream_has_its_own_random_states(self):
        def gather(samples):
            return [*samples, random.random()]

        for workers in (0, 1):
            with self.subTest(workers=workers):
                loader = pytorch.DataLoader(
                    Shuffling(), batch_size=2, num_workers=workers, collate_fn=list
                )
                random.seed(workers)
                whole = list(itertools.islice(loaded(loader, 0), 9))
                self.assertEqual(list(itertools.islice(loaded(loader, 7), 2)), whole[7:])
                self.assertNotEqual(whole[:3], whole[6:])
                other = [list(itertools.islice(loaded(loader, 0, rank, 2), 3)) for rank in (0, 1)]
                self.assertEqual(sorted(itertools.chain(*other[0], *other[1])), list(range(12)))
        random.seed(1)
        expected = [random.random() for _ in range(3)]
        random.seed(1)
        loader = pytorch.DataLoader(Shuffling(), batch_size=2, collate_fn=gather)
        made = [batch[2] for batch in itertools.islice(loaded(loader, 0), 3)]
        self.assertEqual(made, expected)


if __name__ == "__main__":
    unittest.main()
