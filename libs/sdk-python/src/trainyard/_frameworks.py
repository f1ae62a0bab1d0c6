"""Common parts of the integrations with training frameworks."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from . import _storage
from ._checkpoint import stores_by_host
from ._context import Context
from ._distributed import DistributedContext
from .errors import CheckpointError


def require(module: str, user: str, install: str | None = None) -> ModuleType:
    """Imports the package that an integration needs. Raises an ImportError that names the integration and explains
    how to install the package.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = install or module.split(".")[0]
        raise ImportError(
            f"{user} needs the package {package}, which cannot be imported here ({error}): "
            f"install it with 'pip install {package}' in the environment of the entrypoint"
        ) from error


@contextlib.contextmanager
def store_together(ctx: Context, metadata: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """``ctx.checkpoint.store_path`` for all ranks of a run: yields the same folder and UUID to each.

    Every rank must call this at the same point. Each rank writes its files, and the block ends for all ranks together.
    The folder is on the checkpoint storage, which all hosts of a run see. With an object store and several hosts, each
    rank gets a separate folder instead.
    """
    distributed = ctx.distributed
    if stores_by_host(ctx.checkpoint):
        with ctx.checkpoint.store_path(metadata, shard=True) as own:
            yield own
        return
    with _agreed(distributed), contextlib.ExitStack() as stack:
        place: tuple[Path, str] | None = None
        try:
            if distributed.rank == 0:
                place = stack.enter_context(ctx.checkpoint.store_path(metadata))
        finally:
            place = distributed.broadcast(place)
        if place is None:
            raise CheckpointError("rank 0 could not begin the checkpoint: see the error of rank 0")
        with _agreed(distributed):
            yield place


@contextlib.contextmanager
def _agreed(distributed: DistributedContext) -> Iterator[None]:
    """Runs a block on all ranks. An error on one rank is raised on all."""
    failure: Exception | None = None
    try:
        yield
    except Exception as error:
        failure = error
    text = None if failure is None else f"{type(failure).__name__}: {failure}"
    failures = distributed.allgather(text)
    if failure is not None:
        raise failure
    for rank, other in enumerate(failures):
        if other is not None:
            raise CheckpointError(f"the checkpoint could not be stored: rank {rank}: {other}")


def upload_together(ctx: Context, folder: Path, metadata: Mapping[str, Any]) -> str:
    """Stores the files that all ranks have written to one folder per host, and returns the UUID on every rank. A
    file that exists on several hosts is stored by the first of them.
    """
    distributed = ctx.distributed
    # Other ranks may still be writing their files.
    distributed.barrier()
    paths: list[str] = []
    if distributed.local_rank == 0:
        paths = [str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()]
    earlier = {name for names in distributed.allgather(paths)[: distributed.rank] for name in names}
    with store_together(ctx, metadata) as (target, uuid):
        if distributed.local_rank == 0:
            _storage.copy_in(folder, target, lambda name: name not in earlier)
    return uuid


def check_processes(ctx: Context, count: int, owner: str) -> None:
    """Raises ValueError if a framework's number of processes differs from the run's."""
    if count != ctx.distributed.size:
        raise ValueError(
            f"the {owner} has {count} processes, but the run has {ctx.distributed.size}: open the run "
            "with trainyard.init(distributed=trainyard.DistributedContext.from_torch_distributed()) in "
            "processes that python -m trainyard.launch.torch has started"
        )
