"""Tests of the metrics that wait for a report."""

from __future__ import annotations

import unittest
from types import SimpleNamespace
from typing import Any, cast

import torch

from trainyard.pytorch._reports import Reports


class OnGpu(torch.Tensor):
    """A tensor that names a GPU as its device, which torch refuses to join with tensors on the CPU."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__self__", None) is torch.Tensor.device:
            return torch.device("cuda", 0)
        if func is torch.stack and len({value.device for value in args[0]}) > 1:
            raise RuntimeError("Expected all tensors to be on the same device")
        return super().__torch_function__(func, types, args, kwargs or {})


def reports() -> Reports:
    training = cast(Any, SimpleNamespace(reducers=SimpleNamespace(reducers=[])))
    return Reports(training, cast(Any, None), cast(Any, None), cast(Any, None))


class Pending(unittest.TestCase):
    def test_restored_metrics_and_those_of_a_gpu_are_stored_together(self):
        before = reports()
        for loss in (1.0, 2.0):
            before.add({"loss": torch.tensor(loss)})
        after = reports()
        after.load_state_dict(before.state_dict())
        after.add({"loss": torch.tensor(3.0).as_subclass(OnGpu)})
        places, values = after.state_dict()["pending"]["loss"]
        self.assertEqual(places, [0, 1, 2])
        self.assertEqual([float(value) for value in values], [1.0, 2.0, 3.0])
