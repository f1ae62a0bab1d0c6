"""Functions for batches of any nesting: their number of samples, and moving them to a device."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Union

import torch

TorchData = Union[dict[str, torch.Tensor], Sequence[torch.Tensor], torch.Tensor]

_log = logging.getLogger("trainyard.pytorch")


def data_length(data: object) -> int:
    """The number of samples of a batch: the length of the first tensor or array in it, through dicts, lists and
    tuples. For a list without any, the list's length. Raises TypeError if neither exists.
    """
    length = _first_length(data)
    if length is None:
        raise TypeError(
            f"get_batch_length found no tensor or array in a batch of type {type(data).__name__}: "
            "override get_batch_length(batch) in the trial and return its samples"
        )
    return length


def _first_length(data: Any) -> int | None:
    if isinstance(data, torch.Tensor) or _is_array(data):
        return len(data) if data.ndim > 0 else 1
    if isinstance(data, Mapping):
        return next((n for n in map(_first_length, data.values()) if n is not None), None)
    if isinstance(data, (list, tuple)):
        length = next((n for n in map(_first_length, data) if n is not None), None)
        return len(data) if length is None and data else length
    return None


def _is_array(data: object) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(data, numpy.ndarray)


def to_device(
    data: object,
    device: str | torch.device,
    warned_types: set[type] | None = None,
    *,
    non_blocking: bool = False,
) -> Any:
    """Moves data to a device: tensors are moved and arrays become tensors, through dicts, lists and tuples. The
    method ``to`` of other objects is called if it exists. All else is unchanged, with one warning for each type,
    recorded in ``warned_types``.
    """
    warned = set() if warned_types is None else warned_types
    return _moved(data, torch.device(device), warned, non_blocking)


def _moved(data: Any, device: torch.device, warned: set[type], non_blocking: bool) -> Any:
    if isinstance(data, torch.Tensor):
        return data.to(device, non_blocking=non_blocking)
    kind = type(data)
    # Most batches have these types, and the checks below take as long as moving the batch.
    if kind is list or kind is tuple:
        return kind([_moved(value, device, warned, non_blocking) for value in data])
    if _is_array(data):
        return torch.from_numpy(data).to(device, non_blocking=non_blocking)
    if callable(getattr(data, "to", None)):
        return data.to(device)
    if isinstance(data, dict):
        return {name: _moved(value, device, warned, non_blocking) for name, value in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return kind(*(_moved(value, device, warned, non_blocking) for value in data))
    if isinstance(data, (list, tuple)):
        return kind(_moved(value, device, warned, non_blocking) for value in data)
    if kind not in warned and data is not None:
        warned.add(kind)
        _log.warning("to_device: a %s cannot be moved to %s", kind.__name__, device)
    return data
