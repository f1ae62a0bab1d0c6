"""``get_cluster_info``: what a script asks before it opens its run, by Determined's names."""

from __future__ import annotations

import os
from typing import Any, Dict, NamedTuple, Optional, Tuple

from . import _info


class TrialInfo(NamedTuple):
    """The trial that this process belongs to."""

    trial_id: str
    """Experiment and trial, as in ``12.3``."""
    experiment_id: int
    trial_seed: int
    hparams: Dict[str, Any]
    """The trial's hyperparameters, nested as in the configuration."""


class ClusterInfo(NamedTuple):
    """The task that this process belongs to. ``ctx.info`` of an opened run has more."""

    trial: TrialInfo
    latest_checkpoint: Optional[str]
    """The UUID of the checkpoint to continue from; None when there is none."""
    slot_ids: Tuple[str, ...]
    """The ids of this node's slots."""
    container_rank: int
    """This node's rank among the trial's nodes, from 0."""
    user_data: Dict[str, Any]
    """The section ``data`` of the experiment's configuration."""
    task_type: str = "TRIAL"
    """Every task is a trial."""


def get_cluster_info() -> Optional[ClusterInfo]:
    """What the environment says of the task; None outside of one. Opens nothing and makes no request.

    Raises NotInTaskError when the environment of a task is incomplete.
    """
    if not _info.in_task(os.environ):
        return None
    info = _info.info_of(os.environ)
    data = info.config.get("data")
    return ClusterInfo(
        trial=TrialInfo(info.trial_id, info.experiment_id, info.trial_seed, info.hparams),
        latest_checkpoint=info.latest_checkpoint,
        slot_ids=info.slots,
        container_rank=info.rank,
        user_data=data if isinstance(data, dict) else {},
    )
