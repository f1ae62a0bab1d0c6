"""Models in several processes: replicas whose gradients are averaged.

A replica is PyTorch's DistributedDataParallel with three differences. Attributes that it does not have
are those of the model inside, so that a trial reads ``self.model.fc`` whether or not it is
distributed. In evaluation mode it runs the model inside by itself: the processes validate different
numbers of batches, and a collective that not all of them reach would wait forever. And on CPUs
gradients are exchanged in the same buckets from a run's first batch on, the last layers' first.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.nn.parallel import DistributedDataParallel

from .._distributed import Ranks


class Replica(DistributedDataParallel):
    """This process's copy of a model."""

    _compresses = False

    def compress(self) -> None:
        """Lets the processes exchange the gradients as float16 from here on."""
        if not self._compresses:
            # Loaded here, since a start waits for what is loaded before.
            from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

            # PyTorch takes one hook for each model, and a model may have several optimizers.
            self._compresses = True
            self.register_comm_hook(None, default_hooks.fp16_compress_hook)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Runs the model; in training mode together with the other processes."""
        if self.training:
            return super().forward(*inputs, **kwargs)
        return self.module(*inputs, **kwargs)

    def _build_params_for_reducer(self) -> Any:
        """The parameters in the order in which their gradients are expected, the last layer's first:
        ``replicate`` keeps it, and a bucket is exchanged once those before it are. Where some may be
        unused, PyTorch keeps to an order of its own, which is the same.
        """
        parameters, sparse = super()._build_params_for_reducer()
        if self.find_unused_parameters:
            return parameters, sparse
        return parameters[::-1], sparse[::-1]

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == "module":
                raise
            return getattr(super().__getattr__("module"), name)

    def __getitem__(self, index: Any) -> Any:
        return self.module[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.module)


def is_sharded(model: torch.nn.Module) -> bool:
    """Whether the trial has divided the model's parameters over the processes, with PyTorch's
    ``fully_shard``. Such a model computes on all of them together or not at all, which validation
    on different numbers of batches cannot promise.
    """
    return any(type(one).__name__ == "DTensor" for one in model.parameters())


def is_empty(model: torch.nn.Module) -> bool:
    """Whether parts of the model are on the meta device, so that they have no values."""
    return any(one.is_meta for one in (*model.parameters(), *model.buffers()))


def inner(model: torch.nn.Module) -> torch.nn.Module:
    """The model that was wrapped."""
    return model.module if isinstance(model, DistributedDataParallel) else model


def replicate(
    model: torch.nn.Module, device: torch.device, distributed: Ranks, arguments: dict[str, Any]
) -> torch.nn.Module:
    """The model as this process's replica, with the first process's weights.

    Raises ValueError when the processes have built different models.
    """
    _check_same(model, distributed)
    if not any(parameter.requires_grad for parameter in model.parameters()):
        # Nothing of it is trained, and DistributedDataParallel refuses such a model.
        return model
    if device.type == "cuda":
        return Replica(model, device_ids=[device.index], **arguments)
    replica = Replica(model, **arguments)
    # Else it orders its buckets again after the first batch of a run, by when their gradients came.
    # The index of an element decides in which order gloo adds it up over the processes, so a run that goes
    # on would round its first batch differently from one that was not interrupted.
    replica.reducer._push_all_rebuilt_params()  # noqa: SLF001 — torch has no other way
    return replica


def _check_same(model: torch.nn.Module, distributed: Ranks) -> None:
    own = [
        (name, tuple(value.shape), str(value.dtype))
        for name, value in model.state_dict().items()
        if isinstance(value, torch.Tensor)
    ]
    everyone = distributed.allgather(own)
    for rank, shapes in enumerate(everyone):
        if shapes == everyone[0]:
            continue
        one, other = dict_of(everyone[0]), dict_of(shapes)
        name = next(name for name in [*one, *other] if one.get(name) != other.get(name))
        raise ValueError(
            f"wrap_model(): {name} is {_said(one.get(name))} on rank 0 and "
            f"{_said(other.get(name))} on rank {rank}: build the same model on every rank"
        )


def dict_of(entries: Iterable[Any]) -> dict[str, Any]:
    """Names with shapes and types as a dict."""
    return {name: (shape, kind) for name, shape, kind in entries}


def _said(entry: Any) -> str:
    return "absent" if entry is None else f"{list(entry[0])} of {entry[1].replace('torch.', '')}"


@contextlib.contextmanager
def without_sync(models: list[torch.nn.Module]) -> Iterator[None]:
    """Within it, gradients stay in this process."""
    with contextlib.ExitStack() as stack:
        for model in models:
            if isinstance(model, DistributedDataParallel):
                stack.enter_context(model.no_sync())
        yield


@contextlib.contextmanager
def evaluating(models: list[torch.nn.Module]) -> Iterator[None]:
    """Within it the models are in evaluation mode; afterwards each part is as it was, also one that
    the trial keeps frozen.
    """
    before = [(part, part.training) for model in models for part in model.modules()]
    for model in models:
        _share_buffers(model)
        model.eval()
    try:
        yield
    finally:
        for part, training in before:
            part.training = training


def _share_buffers(model: torch.nn.Module) -> None:
    """Gives every process the first one's running statistics, as the next training step would."""
    if isinstance(model, DistributedDataParallel) and model.broadcast_buffers:
        for buffer in model.module.buffers():
            torch.distributed.broadcast(buffer.detach(), 0)
