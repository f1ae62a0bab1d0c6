"""The Core API under the names of ``determined.core``, for scripts of Determined: ``import trainyard as det``
provides ``det.core.init()``, ``det.core.DistributedContext`` and the other names.
"""

from __future__ import annotations

import enum

from ._checkpoint import CheckpointContext, DownloadMode
from ._context import Context
from ._context import init as _init
from ._distributed import DistributedContext
from ._preempt import PreemptContext, PreemptMode
from ._searcher import SearcherContext, SearcherMode, SearcherOperation, Unit
from ._train import EarlyExitReason, TrainContext
from .profiler._context import ProfilerContext

__all__ = [
    "CheckpointContext",
    "Context",
    "DistributedContext",
    "DownloadMode",
    "EarlyExitReason",
    "PreemptContext",
    "PreemptMode",
    "ProfilerContext",
    "SearcherContext",
    "SearcherMode",
    "SearcherOperation",
    "TensorboardMode",
    "TrainContext",
    "Unit",
    "init",
]


class TensorboardMode(enum.Enum):
    """Whether the SDK adds files to the script's own in the trial's TensorBoard folder."""

    AUTO = "AUTO"
    """The SDK writes the reported metrics."""
    MANUAL = "MANUAL"
    """The SDK writes no metrics."""


def init(
    *,
    distributed: DistributedContext | None = None,
    checkpoint_storage: object = None,
    preempt_mode: PreemptMode = PreemptMode.WorkersAskChief,
    tensorboard_mode: TensorboardMode = TensorboardMode.AUTO,
) -> Context:
    """``trainyard.init()`` with the arguments of Determined's ``core.init``. Raises ValueError for
    ``checkpoint_storage``, which only the configuration can set.
    """
    if checkpoint_storage is not None:
        raise ValueError(
            "core.init(checkpoint_storage=…) is not supported: give the section checkpoint_storage in "
            "the configuration, or local_dir of trainyard.init() outside of a task"
        )
    ctx = _init(distributed=distributed, preempt_mode=preempt_mode)
    if tensorboard_mode is TensorboardMode.AUTO:
        ctx.tensorboard.mirror_metrics()
    return ctx
