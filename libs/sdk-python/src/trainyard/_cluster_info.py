"""``get_cluster_info``: the facts about the task that a script can read before it opens its run, under
Determined's names.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from . import _info, _missing_names

if TYPE_CHECKING:
    from collections.abc import Mapping

# A bound above the number of trials of any experiment.
_TRIALS = 10_000_000


class TrialInfo(NamedTuple):
    """The trial that this process belongs to."""

    trial_id: int
    """The number of the trial, unique across experiments: 120000003 for trial ``12.3``. It is an integer because
    scripts for Determined write it to files and parse it with ``int``.
    """
    experiment_id: int
    trial_seed: int
    hparams: dict[str, Any]
    """The trial's hyperparameters, nested as in the configuration."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise _missing_names.missing_name(
                "the info of the trial", name, _missing_names.TRIAL_INFO
            )


class ClusterInfo(NamedTuple):
    """The task that this process belongs to. ``ctx.info`` of an opened run has more."""

    trial: TrialInfo
    latest_checkpoint: str | None
    """The UUID of the checkpoint to continue from; None at a first start."""
    slot_ids: tuple[str, ...]
    """The ids of this node's slots."""
    container_rank: int
    """This node's rank among the trial's nodes, from 0."""
    user_data: dict[str, Any]
    """The section ``data`` of the experiment's configuration."""
    task_type: str = "TRIAL"
    """The type of the task: every task is a trial."""
    nnodes: int = 1
    """The number of nodes that the trial runs on."""
    master_addr: str = "127.0.0.1"
    """The address of node 0 for the other nodes."""
    container_addrs: tuple[str, ...] = ("127.0.0.1",)
    """The addresses of all nodes, by rank; an address that the platform does not know is empty."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise _missing_names.missing_name(
                "the info of the task", name, _missing_names.CLUSTER_INFO
            )


def _number_of(trial_id: str) -> int:
    """Combines the numbers of an experiment and its trial into one number."""
    experiment, _, trial = trial_id.partition(".")
    return int(experiment) * _TRIALS + int(trial or 0)


def _addresses(env: Mapping[str, str], info: _info.Info) -> tuple[str, ...]:
    first, *others = env.get("TRAINYARD_NODE_ADDRS", "").split(",")
    return (first or info.master_addr, *others)


def get_cluster_info() -> ClusterInfo | None:
    """Reads the task's description from the environment, without a request; None outside of a task. Raises
    NotInTaskError when the environment of a task is incomplete.
    """
    if not _info.in_task(os.environ):
        return None
    info = _info.info_of(os.environ)
    data = info.config.get("data")
    return ClusterInfo(
        trial=TrialInfo(
            _number_of(info.trial_id), info.experiment_id, info.trial_seed, info.hparams
        ),
        latest_checkpoint=info.latest_checkpoint,
        slot_ids=info.slots,
        container_rank=info.rank,
        user_data=data if isinstance(data, dict) else {},
        nnodes=info.nnodes,
        master_addr=info.master_addr,
        container_addrs=_addresses(os.environ, info),
    )
