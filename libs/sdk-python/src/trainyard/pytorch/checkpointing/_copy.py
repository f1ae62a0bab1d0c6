"""Copies of the training's state: the loop waits only for the copy, while a thread writes the files."""

from __future__ import annotations

import copy
from typing import Any

import torch


def copied(value: object) -> Any:
    """Returns the value with every tensor copied into main memory, through dicts, lists and tuples. Tensors that
    share memory (tied weights) are copied once and share their copy.
    """
    copies: dict[Any, torch.Tensor] = {}
    result = _copied(value, copies)
    if any(key[0].type == "cuda" for key in copies):
        torch.cuda.synchronize()
    return result


def _copied(value: Any, copies: dict[Any, torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        return _copy_of(value, copies)
    if isinstance(value, dict):
        # A shallow copy keeps the container's attributes: a model's state dict has the versions of its modules.
        container = copy.copy(value)
        container.update((key, _copied(item, copies)) for key, item in value.items())
        return container
    if type(value) in (list, tuple):
        return type(value)(_copied(item, copies) for item in value)
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return value
    return copy.deepcopy(value)


def _copy_of(tensor: torch.Tensor, copies: dict[Any, torch.Tensor]) -> torch.Tensor:
    if tensor.layout is not torch.strided or type(tensor) not in (
        torch.Tensor,
        torch.nn.Parameter,
    ):
        return tensor.detach().cpu().clone()
    key = _memory_of(tensor)
    copied_tensor = copies.get(key)
    if copied_tensor is None:
        copied_tensor = torch.empty_like(tensor, device="cpu", requires_grad=False)
        copied_tensor.copy_(tensor.detach(), non_blocking=True)
        copies[key] = copied_tensor
    return copied_tensor


def _memory_of(tensor: torch.Tensor) -> tuple[Any, ...]:
    address = tensor.data_ptr() if tensor.numel() else id(tensor)
    return (tensor.device, address, tensor.dtype, tuple(tensor.shape), tensor.stride())
