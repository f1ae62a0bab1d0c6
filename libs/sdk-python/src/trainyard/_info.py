"""The facts about a training process, read once from the environment that the agent sets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from . import _values
from ._limits import DISK_SHARE
from .errors import NotInTaskError


class Info(NamedTuple):
    """The run that this process belongs to."""

    experiment_id: int
    """The experiment's number; 0 in local mode."""
    trial_id: str
    """The ids of experiment and trial, as in ``12.3``; ``local`` in local mode."""
    run: int
    """The number of the trial's attempt, from 1. It increases with every restart, pause and resume."""
    trial_seed: int
    """The trial's random seed, from 0 to 2^32 - 1. It depends only on the experiment's seed and the trial, not on
    restarts.
    """
    hparams: dict[str, Any]
    """The trial's hyperparameters, nested as in the configuration."""
    config: dict[str, Any]
    """The experiment's whole configuration."""
    search_needs_metric: bool
    """Whether the search cannot use a trial without the searcher's metric. False in local mode, which has no search."""
    latest_checkpoint: str | None
    """The UUID of the checkpoint to continue from; None at a first start."""
    steps_completed: int | float
    """The number of steps completed at the checkpoint; 0 without a checkpoint."""
    slots: tuple[str, ...]
    """The ids of this node's slots; empty for a trial without slots."""
    rank: int
    """This node's rank among the trial's nodes, from 0."""
    nnodes: int
    """The number of nodes that the trial runs on. The entrypoint runs once on each."""
    master_addr: str
    """The address of node 0 for the other nodes."""
    master_port: int
    """A port on node 0 that is reserved for the trial."""
    run_dir: Path
    """The run's own folder on this node. Its ``spool`` and ``end.json`` belong to the SDK."""
    local: bool
    """Whether this process runs outside a task, in local mode."""

    @property
    def run_id(self) -> str:
        """The ids of trial and run, as in ``12.3#2``."""
        return f"{self.trial_id}#{self.run}"


class Connection:
    """The platform's address and this run's token. It is not a tuple, so that the token is never printed."""

    __slots__ = (
        "checkpoint_disk_share",
        "checkpoint_root",
        "checkpoint_uploads",
        "metrics_url",
        "token",
        "url",
    )

    def __init__(
        self,
        url: str,
        metrics_url: str,
        token: str,
        checkpoint_root: Path | None,
        checkpoint_uploads: bool,
        checkpoint_disk_share: float,
    ) -> None:
        self.url = url
        self.metrics_url = metrics_url
        self.token = token
        # The folder of checkpoints on this host; None if only the platform knows it.
        self.checkpoint_root = checkpoint_root
        # Whether checkpoints are uploaded from the folder to an object store.
        self.checkpoint_uploads = checkpoint_uploads
        # The share of the free disk, 0 to 1, for sealed checkpoints that wait for their upload.
        self.checkpoint_disk_share = checkpoint_disk_share


def in_task(env: Mapping[str, str]) -> bool:
    """Whether the environment is that of a task."""
    return bool(env.get("TRAINYARD_TRIAL_ID"))


def info_of(env: Mapping[str, str]) -> Info:
    """Reads the run from a task's environment. Raises NotInTaskError with the variable that is missing or wrong."""
    trial_id = _required(env, "TRIAL_ID")
    return Info(
        experiment_id=_whole(env, "EXPERIMENT_ID"),
        trial_id=trial_id,
        run=_whole(env, "RUN"),
        trial_seed=_whole(env, "TRIAL_SEED"),
        hparams=_object(env, "HPARAMS"),
        config=_object(env, "CONFIG"),
        search_needs_metric=env.get("TRAINYARD_SEARCH_NEEDS_METRIC") == "1",
        latest_checkpoint=env.get("TRAINYARD_LATEST_CHECKPOINT") or None,
        steps_completed=_steps(env),
        slots=tuple(slot for slot in env.get("TRAINYARD_SLOT_IDS", "").split(",") if slot),
        rank=_whole(env, "NODE_RANK", "0"),
        nnodes=_whole(env, "NNODES", "1"),
        master_addr=env.get("TRAINYARD_MASTER_ADDR", "127.0.0.1"),
        master_port=_whole(env, "MASTER_PORT", "0"),
        run_dir=Path(_required(env, "RUN_DIR")),
        local=False,
    )


def connection_of(env: Mapping[str, str]) -> Connection:
    """Reads the platform's addresses and the token from a task's environment."""
    root = env.get("TRAINYARD_CHECKPOINT_ROOT")
    return Connection(
        checkpoint_root=Path(root) if root else None,
        checkpoint_uploads=env.get("TRAINYARD_CHECKPOINT_UPLOADS") == "1",
        checkpoint_disk_share=_share(env),
        url=_required(env, "URL"),
        metrics_url=_required(env, "METRICS_URL"),
        token=_required(env, "TOKEN"),
    )


def _required(env: Mapping[str, str], name: str) -> str:
    value = env.get(f"TRAINYARD_{name}")
    if not value:
        raise NotInTaskError(
            f"TRAINYARD_TRIAL_ID is set but TRAINYARD_{name} is not: inside a task "
            "the agent sets both; to run outside a task, unset TRAINYARD_TRIAL_ID"
        )
    return value


def _whole(env: Mapping[str, str], name: str, default: str | None = None) -> int:
    text = (
        (env.get(f"TRAINYARD_{name}") or default) if default is not None else _required(env, name)
    )
    try:
        return int(text or "")
    except ValueError:
        raise NotInTaskError(f"TRAINYARD_{name} must be a whole number, not {text!r}") from None


def _share(env: Mapping[str, str]) -> float:
    text = env.get("TRAINYARD_CHECKPOINT_DISK_SHARE") or str(DISK_SHARE)
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if 0 < share <= 1:
        return share
    raise NotInTaskError(
        f"TRAINYARD_CHECKPOINT_DISK_SHARE must be above 0 and at most 1, not {text!r}"
    )


def _steps(env: Mapping[str, str]) -> int | float:
    text = env.get("TRAINYARD_STEPS_COMPLETED") or "0"
    try:
        return _values.steps_of(float(text))
    except ValueError:
        raise NotInTaskError(
            f"TRAINYARD_STEPS_COMPLETED must be a count of steps, not {text!r}"
        ) from None


def _object(env: Mapping[str, str], name: str) -> dict[str, Any]:
    text = env.get(f"TRAINYARD_{name}") or "{}"
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise NotInTaskError(f"TRAINYARD_{name} must be a JSON object, not {text[:80]!r}")
    return value
