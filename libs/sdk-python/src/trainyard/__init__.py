"""Trainyard's Python SDK: report metrics, store checkpoints, and stop when asked, from a training
script.

import trainyard

with trainyard.init() as ctx:
    lr = ctx.info.hparams["lr"]
    for epoch in range(10):
        ...
        ctx.train.report_validation_metrics(epoch + 1, {"loss": loss})
        if ctx.preempt.should_preempt():
            break
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from . import core
from ._checkpoint import CheckpointContext, DownloadMode, StoredCheckpoint
from ._cluster_info import ClusterInfo, TrialInfo, get_cluster_info
from ._context import Context, init
from ._distributed import DistributedContext
from ._info import Info
from ._preempt import PreemptContext, PreemptMode
from ._train import EarlyExitReason, TrainContext
from ._version import __version__
from .errors import (
    CheckpointError,
    DistributedError,
    InvalidHP,
    NotInTaskError,
    RunSupersededError,
    TrainyardError,
)

LOG_FORMAT = "%(levelname)s: [%(process)s] %(name)s: %(message)s"
"""The ``logging.basicConfig`` format that scripts for Determined use."""

__all__ = [
    "LOG_FORMAT",
    "CheckpointContext",
    "CheckpointError",
    "ClusterInfo",
    "Context",
    "DistributedContext",
    "DistributedError",
    "DownloadMode",
    "EarlyExitReason",
    "Info",
    "InvalidHP",
    "NotInTaskError",
    "PreemptContext",
    "PreemptMode",
    "RunSupersededError",
    "StoredCheckpoint",
    "TrainContext",
    "TrainyardError",
    "TrialInfo",
    "__version__",
    "core",
    "get_cluster_info",
    "init",
]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        """Raises AttributeError for a name that only Determined's package has, with its replacement."""
        # The table of missing names is imported only here: a correct script never needs it.
        from ._missing_names import PACKAGE, missing_import

        raise missing_import("trainyard", name, PACKAGE)
