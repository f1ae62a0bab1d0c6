"""``pytorch.init()``: opens the context for a trial."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import torch

from .. import _context as core_context
from .. import _info
from .._distributed import DistributedContext
from . import _seeds
from ._context import PyTorchTrialContext


@contextlib.contextmanager
def init(
    *,
    hparams: dict[str, Any] | None = None,
    exp_conf: dict[str, Any] | None = None,
    distributed: DistributedContext | None = None,
    aggregation_frequency: int = 1,
    enable_tensorboard_logging: bool = True,
) -> Iterator[PyTorchTrialContext]:
    """Opens the run and seeds Python, NumPy and PyTorch from the trial; use it as
    ``with pytorch.init() as context:``.

    ``hparams`` and ``exp_conf`` replace the task's; outside of a task they are required. Under ``torchrun`` or
    ``python -m trainyard.launch.torch`` the processes connect automatically, unless ``distributed`` is given. With
    ``aggregation_frequency`` the optimizers take a step after every that many batches, with the gradients of all
    of them.
    """
    if isinstance(aggregation_frequency, bool) or not (
        isinstance(aggregation_frequency, int) and aggregation_frequency >= 1
    ):
        raise ValueError(
            f"pytorch.init(aggregation_frequency={aggregation_frequency!r}) takes a whole number "
            "of at least 1"
        )
    if distributed is None and int(os.environ.get("WORLD_SIZE") or 1) > 1:
        distributed = DistributedContext.from_torch_distributed()
    _check_launched(distributed)
    config = exp_conf or {}
    with core_context.init(
        distributed=distributed,
        local_hparams=hparams,
        local_config=config,
        local_seed=_seed_in(config),
    ) as core:
        device = device_of(core.distributed)
        made = _join_group(core.distributed, device)
        # The seed is equal in all processes here, so that they build equal models; from the first batch each
        # process has its own.
        _seeds.seed_all(core.info.trial_seed)
        yield PyTorchTrialContext(
            core, hparams, exp_conf, device, aggregation_frequency, enable_tensorboard_logging
        )
        if made:
            # After an exception the group is not destroyed: other processes may hang in a collective.
            torch.distributed.destroy_process_group()


def _check_launched(distributed: DistributedContext | None) -> None:
    """Refuses to run a single process for several slots, which would leave the other slots idle."""
    if distributed is not None or "WORLD_SIZE" in os.environ or not _info.in_task(os.environ):
        return
    info = _info.info_of(os.environ)
    if len(info.slots) > 1 or info.nnodes > 1:
        extent = f"{info.nnodes} nodes" if info.nnodes > 1 else f"{len(info.slots)} slots"
        raise ValueError(
            f"pytorch.init() is one process and the trial has {extent}: begin the entrypoint with "
            "python3 -m trainyard.launch.torch, which starts one for each slot"
        )


def device_of(distributed: DistributedContext) -> torch.device:
    """The device of this process: its slot's GPU if there are GPUs, otherwise the CPU."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    device = torch.device("cuda", distributed.local_rank % torch.cuda.device_count())
    torch.cuda.set_device(device)
    return device


def _join_group(distributed: DistributedContext, device: torch.device) -> bool:
    """Creates PyTorch's process group if needed. Returns whether it did."""
    if distributed.size == 1 or torch.distributed.is_initialized():
        return False
    backend = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
    torch.distributed.init_process_group(
        backend, rank=distributed.rank, world_size=distributed.size
    )
    return True


def _seed_in(config: dict[str, Any]) -> int:
    """The experiment's seed in a configuration, for local mode."""
    section = config.get("reproducibility")
    seed = section.get("experiment_seed") if isinstance(section, dict) else None
    return seed if isinstance(seed, int) and 0 <= seed < 2**32 else 0
