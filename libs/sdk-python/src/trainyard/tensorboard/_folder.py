"""Where a trial's TensorBoard files lie."""

from __future__ import annotations

import os
from pathlib import Path

from .._info import Info


def folder_of(info: Info) -> Path:
    """``<checkpoint storage>/tensorboard/experiment/<e>/trial/<t>``, which the platform knows too; in
    local mode ``tensorboard`` in the local folder, and in the run's own folder where the storage's
    root is not known here, or is an object store (see _sync).

    No checkpoint has such a name, so nothing that deletes checkpoints takes it for one.
    """
    if info.local:
        return info.run_dir.parent / "tensorboard"
    root = _storage_root()
    if not root:
        return info.run_dir / "tensorboard"
    experiment = str(info.experiment_id)
    return Path(root) / "tensorboard" / "experiment" / experiment / "trial" / info.trial_id


def is_kept(info: Info) -> bool:
    """Whether the files outlive the run's folder: there, or in the object store that they are sent to."""
    return info.local or bool(_storage_root()) or _uploads()


def _uploads() -> bool:
    return os.environ.get("TRAINYARD_CHECKPOINT_UPLOADS") == "1"


def _storage_root() -> str | None:
    """The root of a directory storage; None where checkpoints go from the run's folder to an object store."""
    if _uploads():
        return None
    return os.environ.get("TRAINYARD_CHECKPOINT_ROOT")
