"""What the integrations with training frameworks share."""

from __future__ import annotations

import contextlib
import importlib
from pathlib import Path
from types import ModuleType
from typing import Any, Iterator, List, Mapping, Optional, Tuple

from . import _storage
from ._context import Context


def require(module: str, user: str, install: Optional[str] = None) -> ModuleType:
    """Imports the package that an integration is for.

    Raises ImportError with one sentence that says who needs it and how to install it.
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
def store_together(ctx: Context, metadata: Mapping[str, Any]) -> Iterator[Tuple[Path, str]]:
    """``ctx.checkpoint.store_path`` for all ranks of a run: yields the same folder and UUID to
    each.

    Every rank calls it at the same point, writes files of its own, and leaves the block once all
    have. The folder is on the checkpoint storage, which all hosts of a run see.
    """
    distributed = ctx.distributed
    if distributed.rank != 0:
        folder, uuid = distributed.broadcast(None)
        yield Path(folder), uuid
        distributed.barrier()
        distributed.barrier()
        return
    with ctx.checkpoint.store_path(metadata) as (path, uuid):
        distributed.broadcast((str(path), uuid))
        yield path, uuid
        distributed.barrier()
    # The others go on with a checkpoint that is stored, as the chief does.
    distributed.barrier()


def upload_together(ctx: Context, folder: Path, metadata: Mapping[str, Any]) -> str:
    """Stores what all ranks have written to a folder, which is one for each host, and returns the
    UUID on every rank.

    A file that several hosts have is taken from the first of them.
    """
    distributed = ctx.distributed
    # A rank may still be writing its part.
    distributed.barrier()
    found: List[str] = []
    if distributed.local_rank == 0:
        found = [str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()]
    earlier = {name for names in distributed.allgather(found)[: distributed.rank] for name in names}
    with store_together(ctx, metadata) as (target, uuid):
        if distributed.local_rank == 0:
            _storage.copy_in(folder, target, lambda name: name not in earlier)
    return uuid


def check_processes(ctx: Context, count: int, owner: str) -> None:
    """Raises ValueError where a framework trains with other processes than the run knows of."""
    if count != ctx.distributed.size:
        raise ValueError(
            f"the {owner} has {count} processes and the run {ctx.distributed.size}: open the run "
            "with trainyard.init(distributed=trainyard.DistributedContext.from_torch_distributed()) in "
            "processes that python -m trainyard.launch.torch has started"
        )
