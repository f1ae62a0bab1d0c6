"""Models that several processes train: replicas whose gradients are averaged.

A replica is PyTorch's DistributedDataParallel with three differences. First, missing attributes are read from the
inner model, so that a trial can read ``self.model.fc`` in any case. Second, in evaluation mode the inner model
runs without collectives: the processes validate different numbers of batches, and a collective that some process
never reaches would hang. Third, on CPUs gradients are exchanged in the same buckets from a run's first batch, the
last layers' first.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.parallel import DistributedDataParallel

from .._distributed import Ranks


class Replica(DistributedDataParallel):
    """This process's copy of a model."""

    _compresses = False

    def compress(self) -> None:
        """Makes the processes exchange gradients as float16."""
        if not self._compresses:
            # A local import, since every import delays the script's start.
            from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

            # PyTorch accepts one hook per model, but a model may have several optimizers.
            self._compresses = True
            self.register_comm_hook(None, default_hooks.fp16_compress_hook)

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Runs the model. In training mode all processes must call this together."""
        if self.training:
            return super().forward(*inputs, **kwargs)
        return self.module(*inputs, **kwargs)

    def _build_params_for_reducer(self) -> Any:
        """Returns the parameters in the order in which their gradients are expected, the last layer's first.
        ``replicate`` keeps this order, and buckets are exchanged in it. If some parameters may be unused, PyTorch
        itself uses this order.
        """
        parameters, sparse = super()._build_params_for_reducer()
        if self.find_unused_parameters:
            return parameters, sparse
        return parameters[::-1], sparse[::-1]

    if not TYPE_CHECKING:

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
    """Whether the trial has sharded the model's parameters over the processes, with PyTorch's ``fully_shard``. All
    processes must run such a model together, but a validation gives them different numbers of batches.
    """
    return any(type(one).__name__ == "DTensor" for one in model.parameters())


def is_empty(model: torch.nn.Module) -> bool:
    """Whether parts of the model are on the meta device, without values."""
    return any(one.is_meta for one in (*model.parameters(), *model.buffers()))


def inner(model: torch.nn.Module) -> torch.nn.Module:
    """The original model inside a replica, or the model itself."""
    return model.module if isinstance(model, DistributedDataParallel) else model


def replicate(
    model: torch.nn.Module, device: torch.device, distributed: Ranks, arguments: dict[str, Any]
) -> torch.nn.Module:
    """Returns the model as this process's replica, with the first process's weights. Raises ValueError when the
    processes have built different models.
    """
    _check_same(model, distributed)
    if not any(parameter.requires_grad for parameter in model.parameters()):
        # The model has no trained parameters, so DistributedDataParallel would refuse it.
        return model
    if device.type == "cuda":
        return Replica(model, device_ids=[device.index], **arguments)
    replica = Replica(model, **arguments)
    # Otherwise DistributedDataParallel reorders its buckets after a run's first batch, by the arrival of their
    # gradients. The index of an element decides in which order gloo sums it over the processes, so a resumed run
    # would round its first batch differently from an uninterrupted one.
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
    """A dict from names to shapes and types."""
    return {name: (shape, kind) for name, shape, kind in entries}


def _said(entry: Any) -> str:
    return "absent" if entry is None else f"{list(entry[0])} of {entry[1].replace('torch.', '')}"


@contextlib.contextmanager
def without_sync(models: list[torch.nn.Module]) -> Iterator[None]:
    """A block in which gradients are not exchanged between the processes."""
    with contextlib.ExitStack() as stack:
        for model in models:
            if isinstance(model, DistributedDataParallel):
                stack.enter_context(model.no_sync())
        yield


@contextlib.contextmanager
def evaluating(models: list[torch.nn.Module]) -> Iterator[None]:
    """A block in which the models are in evaluation mode. Afterwards each module has its former mode, also a
    module that the trial keeps in evaluation mode.
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
    """Copies the first process's running statistics to every process, as the next training step would."""
    if isinstance(model, DistributedDataParallel) and model.broadcast_buffers:
        for buffer in model.module.buffers():
            torch.distributed.broadcast(buffer.detach(), 0)
