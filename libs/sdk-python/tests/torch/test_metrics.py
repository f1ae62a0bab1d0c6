"""The values of each batch on each rank are combined to the reported values."""

from __future__ import annotations

import math
import threading
import unittest

import numpy
import torch

from trainyard.pytorch import metrics
from trainyard.pytorch.metrics import MetricReducer, MetricReducers, Reducer


class Rank:
    """A rank that is a thread instead of a process, and gathers values from the other threads."""

    def __init__(self, rank, parts, barrier):
        self.rank = rank
        self.size = len(parts)
        self._parts = parts
        self._barrier = barrier

    def allgather(self, value):
        self._parts[self.rank] = value
        self._barrier.wait()
        gathered = list(self._parts)
        self._barrier.wait()
        return gathered


def on_ranks(count, work):
    """Returns the results of ``work(distributed)`` on each rank."""
    parts, barrier, results = [None] * count, threading.Barrier(count), [None] * count

    def run(rank):
        try:
            results[rank] = work(Rank(rank, parts, barrier))
        except BaseException as error:
            results[rank] = error
            barrier.abort()

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


class Training(unittest.TestCase):
    def test_a_training_metric_is_the_mean_over_batches_and_ranks(self):
        def work(distributed):
            batches = [{"loss": torch.tensor(float(distributed.rank + step))} for step in range(4)]
            return metrics.average_training_metrics(distributed, batches)

        self.assertEqual(on_ranks(2, work), [{"loss": 2.0}] * 2)

    def test_a_training_metric_is_averaged_over_the_batches_that_have_it(self):
        def work(distributed):
            batches = [{"d": 1.0}, {"d": 3.0, "g": 10 * (distributed.rank + 1)}]
            if distributed.rank == 1:
                batches.append({"own": 5})
            return metrics.average_training_metrics(distributed, batches)

        self.assertEqual(on_ranks(2, work), [{"d": 2.0, "g": 15.0, "own": 5.0}] * 2)

    def test_the_average_of_values_with_a_nan_is_nan(self):
        def work(distributed):
            values = [math.nan if distributed.rank else 1.0, 1.0]
            return metrics.average_training_metrics(distributed, [{"a": v} for v in values])

        for found in on_ranks(2, work):
            self.assertTrue(math.isnan(found["a"]))

    def test_the_metrics_of_no_batches_are_empty(self):
        self.assertEqual(on_ranks(1, lambda d: metrics.average_training_metrics(d, [])), [{}])


class Validation(unittest.TestCase):
    def test_a_validation_average_weights_batches_by_their_samples(self):
        values = [1.0, 0.0, 1.0, 0.0, 1.0]

        def work(distributed):
            mine = [{"accuracy": v} for v in values[distributed.rank :: distributed.size]]
            records = [4, 4, 4, 4, 1][distributed.rank :: distributed.size]
            return metrics.reduce_validation_metrics(distributed, mine, records)

        for ranks in (1, 2, 3, 5, 7):
            self.assertEqual(on_ranks(ranks, work), [{"accuracy": 9 / 17}] * ranks)

    def test_each_validation_metric_is_combined_by_its_reducer(self):
        reducers = {"sum": Reducer.SUM, "max": Reducer.MAX, "min": Reducer.MIN, "avg": Reducer.AVG}

        def work(distributed):
            value = torch.tensor([3.0, -1.0, 4.0][distributed.rank])
            batch = dict.fromkeys(reducers, value)
            return metrics.reduce_validation_metrics(distributed, [batch], [2], reducers)

        expected = {"sum": 6.0, "max": 4.0, "min": -1.0, "avg": 2.0}
        self.assertEqual(on_ranks(3, work), [expected] * 3)

    def test_the_maximum_is_nan_if_any_value_is_nan(self):
        for values in ([1.0, math.nan], [math.nan, 1.0]):
            found = metrics.reduce_validation_metrics(
                Rank(0, [None], None), [{"a": v} for v in values], [1, 1], Reducer.MAX
            )
            self.assertTrue(math.isnan(found["a"]))

    def test_a_missing_or_invalid_reducer_is_refused(self):
        one = Rank(0, [None], None)
        with self.assertRaisesRegex(ValueError, "no reducer for the metric 'a'"):
            metrics.reduce_validation_metrics(one, [{"a": 1.0}], [1], {"b": Reducer.AVG})
        with self.assertRaisesRegex(TypeError, "evaluation_reducer returned 'avg'"):
            metrics.reduce_validation_metrics(one, [{"a": 1.0}], [1], "avg")
        with self.assertRaisesRegex(ValueError, "get_batch_length returned -1"):
            metrics.reduce_validation_metrics(one, [{"a": 1.0}], [-1])


class Returned(unittest.TestCase):
    def test_valid_results_of_a_batch_become_numbers(self):
        weight = torch.ones(1, requires_grad=True)
        found = metrics.metrics_of(
            {"a": weight * 2, "b": numpy.float32(1.5), "c": True, "d": None, "e": numpy.ones((1,))},
            "train_batch",
        )
        self.assertFalse(found["a"].requires_grad)
        self.assertEqual(found["a"].item(), 2.0)
        self.assertEqual((found["b"], found["c"], found["e"]), (1.5, 1.0, 1.0))
        self.assertNotIn("d", found)
        self.assertEqual(list(metrics.metrics_of(torch.ones(()), "train_batch")), ["loss"])

    def test_a_later_change_of_a_returned_tensor_does_not_change_the_metric(self):
        loss = torch.zeros(())
        found = metrics.metrics_of({"loss": loss}, "train_batch")
        loss.add_(1)
        self.assertEqual(found["loss"].item(), 0.0)

    def test_invalid_results_of_a_batch_are_refused(self):
        for returned, error, text in (
            ("loss", TypeError, "train_batch returned a str: return a dict"),
            (None, TypeError, "train_batch returned a NoneType: return a dict"),
            ({"a": "x"}, TypeError, "the metric 'a' as a str: return a number"),
            ({1: 1.0}, TypeError, "the metric 1: name metrics by strings"),
            ({"a": torch.ones(2, 3)}, ValueError, r"'a' of shape \(2, 3\): .* a.mean\(\)"),
            ({"a": numpy.ones(4)}, ValueError, r"'a' of shape \(4,\)"),
        ):
            with self.assertRaisesRegex(error, text):
                metrics.metrics_of(returned, "train_batch")


class Mean(MetricReducer):
    def __init__(self):
        self.reset()

    def reset(self):
        self.values = []

    def per_slot_reduce(self):
        return sum(self.values), len(self.values)

    def cross_slot_reduce(self, per_slot_metrics):
        sums, counts = zip(*per_slot_metrics)
        return sum(sums) / sum(counts)


class Custom(unittest.TestCase):
    def test_reducers_combine_the_values_of_all_ranks(self):
        def work(distributed):
            reducers = MetricReducers(distributed)
            mean = reducers.wrap_reducer(Mean(), name="mean")
            order = reducers.wrap_reducer(lambda fed: {"order": fed}, for_training=False)
            reducers.reset_reducers()
            for value in range(5)[distributed.rank :: 2]:
                mean.values.append(value)
                order.update(value)
            return reducers.reduce_metrics(True), reducers.reduce_metrics(False)

        expected = ({"mean": 2.0}, {"mean": 2.0, "order": [0, 1, 2, 3, 4]})
        self.assertEqual(on_ranks(2, work), [expected] * 2)

    def test_reset_discards_the_values_of_a_reducer(self):
        reducers = MetricReducers(Rank(0, [None], None))
        fed = reducers.wrap_reducer(len, name="n")
        fed.update(1)
        reducers.reset_reducers()
        self.assertEqual(reducers.reduce_metrics(for_training=True), {"n": 0})

    def test_a_reducers_tensor_of_one_element_becomes_a_number(self):
        reducers = MetricReducers(Rank(0, [None], None))
        reducers.wrap_reducer(lambda fed: torch.ones(1, 1), name="one")
        reducers.wrap_reducer(lambda fed: {"all": [1, 2], "two": numpy.ones(())})
        self.assertEqual(
            reducers.reduce_metrics(for_training=True), {"one": 1.0, "all": [1, 2], "two": 1.0}
        )

    def assert_says(self, error, text, reducer, **options):
        reducers = MetricReducers(Rank(0, [None], None))
        with self.assertRaisesRegex(error, text):
            reducers.wrap_reducer(reducer, **options)
            reducers.reduce_metrics(for_training=True)

    def test_errors_of_a_reducer_name_it(self):
        def broken(fed):
            return 1 / 0

        self.assert_says(
            RuntimeError,
            r"the reducer broken\(\) named 'b' failed in cross_slot_reduce: ZeroDivisionError",
            broken,
            name="b",
        )
        self.assert_says(TypeError, r"len\(\) returned a int: return a dict", len)
        self.assert_says(TypeError, r"_dict\(\) named 'd' returned a dict", _dict, name="d")
        self.assert_says(TypeError, "wrap_reducer takes a function or an object", Mean)
        self.assert_says(TypeError, "wrap_reducer takes a function or an object", 3)

    def test_a_reducer_or_a_name_that_is_registered_twice_is_refused(self):
        reducers = MetricReducers(Rank(0, [None], None))
        mean = reducers.wrap_reducer(Mean(), name="m")
        with self.assertRaisesRegex(ValueError, "twice with the same Mean"):
            reducers.wrap_reducer(mean, name="other")
        with self.assertRaisesRegex(ValueError, "twice with the name 'm'"):
            reducers.wrap_reducer(Mean(), name="m")
        with self.assertRaisesRegex(ValueError, "train_batch and a reducer both give .* 'm'"):
            metrics.join_metrics({"m": 1}, {"m": 2}, "train_batch")


def _dict(fed):
    return {}


if __name__ == "__main__":
    unittest.main()
