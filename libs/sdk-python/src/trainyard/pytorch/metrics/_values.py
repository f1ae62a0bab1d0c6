"""Checks the result of a trial's method for one batch, and converts many results to numbers."""

from __future__ import annotations

import logging
import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import torch

_log = logging.getLogger("trainyard.pytorch")


def metrics_of(returned: object, method: str) -> dict[str, Any]:
    """The metrics that ``method`` returned for a batch: a dict, or a tensor of one element, which is
    the metric ``loss``.

    Tensors stay on their device, detached from the graph, so that the call does not wait for a GPU. A value of
    None is left out. Raises TypeError or ValueError for a value that is not a number.
    """
    if isinstance(returned, torch.Tensor):
        returned = {"loss": returned}
    if not isinstance(returned, Mapping):
        raise TypeError(
            f"{method} returned a {type(returned).__name__}: return a dict of metrics by name, or "
            "the loss as a tensor"
        )
    return {
        name: _checked(name, value, method) for name, value in returned.items() if value is not None
    }


def training_metrics_of(returned: object, warned: set[str]) -> dict[str, Any]:
    """Returns the result of ``metrics_of`` for ``train_batch``, without values that are not numbers. The first
    such value of a name logs a warning; ``warned`` has these names.
    """
    if not isinstance(returned, Mapping):
        return metrics_of(returned, "train_batch")
    metrics: dict[str, Any] = {}
    for name, value in returned.items():
        if value is None:
            continue
        try:
            metrics[name] = _checked(name, value, "train_batch")
        except (TypeError, ValueError) as error:
            if not isinstance(name, str):
                raise
            if name not in warned:
                warned.add(name)
                _log.warning("%s; it is left out", error)
    return metrics


def _checked(name: Any, value: Any, method: str) -> Any:
    if not isinstance(name, str):
        raise TypeError(f"{method} returned the metric {name!r}: name metrics by strings")
    if isinstance(value, torch.Tensor):
        if value.numel() != 1:
            raise ValueError(
                f"{method} returned the metric {name!r} of shape {tuple(value.shape)}: return one "
                f"number, as {name}.mean() is"
            )
        if value.grad_fn is not None:
            # The batch's graph created the tensor, so nothing changes it in place later.
            return value.detach() if value.ndim == 0 else value.detach().reshape(())
        return value.detach().reshape(()).clone()
    if isinstance(value, numbers.Real):
        return float(value)
    size = getattr(value, "size", None)
    if size == 1 and callable(getattr(value, "item", None)):
        return _checked(name, value.item(), method)
    shape = getattr(value, "shape", None)
    if shape is not None:
        raise ValueError(
            f"{method} returned the metric {name!r} of shape {tuple(shape)}: return one number, as "
            f"{name}.mean() is"
        )
    raise TypeError(
        f"{method} returned the metric {name!r} as a {type(value).__name__}: return a number or a "
        "tensor of one element"
    )


def columns_of(per_batch: Sequence[Mapping[str, Any]]) -> dict[str, dict[int, float]]:
    """Returns, for each metric, its value for each batch that has it, as Python numbers.

    The tensors of a metric are joined on their device first, so that there is one wait per metric for any number
    of batches. They may be on several devices: tensors from before a restart come from a file.
    """
    columns: dict[str, dict[int, Any]] = {}
    for place, metrics in enumerate(per_batch):
        for name, value in metrics.items():
            columns.setdefault(name, {})[place] = value
    return {name: _as_numbers(name, column) for name, column in columns.items()}


def _as_numbers(name: str, column: dict[int, Any]) -> dict[int, float]:
    by_device: dict[torch.device, dict[int, torch.Tensor]] = {}
    for place, value in column.items():
        if isinstance(value, torch.Tensor):
            by_device.setdefault(value.device, {})[place] = value
    for device, tensors in by_device.items():
        stacked = torch.stack(list(tensors.values()))
        if device.type == "meta" or stacked.is_complex():
            raise ValueError(
                f"the metric {name!r} is {'empty' if stacked.is_meta else 'complex'}: return a real "
                "number from train_batch or evaluate_batch"
            )
        # Some devices have no 64-bit numbers.
        column = {**column, **dict(zip(tensors, stacked.cpu().to(torch.float64).tolist()))}
    return column


def total(values: list[float]) -> float:
    """The exactly rounded sum. With NaN or infinities, the sum of floating-point addition."""
    if all(map(math.isfinite, values)):
        return math.fsum(values)
    return sum(values)
