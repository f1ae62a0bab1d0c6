"""The location of a trial's TensorBoard files."""

from __future__ import annotations

import os
from pathlib import Path

from .. import _storage_marker
from .._info import Info


def folder_of(info: Info) -> Path:
    """Returns ``<storage>/tensorboard/<log>/experiment/<e>/trial/<t>``, which the platform uses, too. The log's name
    separates clusters that share a storage. The storage is that of ``tensorboard_storage``, or else that of the
    checkpoints.

    In local mode the folder is ``tensorboard`` in the local folder. It is in the run's folder if the storage's
    root is unknown here or is an object store (see _sync). No checkpoint has such a name, so deletions of
    checkpoints never affect it.
    """
    if info.local:
        return info.run_dir.parent / "tensorboard"
    root = _storage_root()
    if not root:
        return info.run_dir / "tensorboard"
    experiment = str(info.experiment_id)
    log = os.environ.get("TRAINYARD_LOG", "")
    return Path(root) / "tensorboard" / log / "experiment" / experiment / "trial" / info.trial_id


def is_kept(info: Info) -> bool:
    """Whether the files are kept after the run's folder is removed: in a directory storage, or in the object store
    to which they are uploaded.
    """
    return info.local or bool(_storage_root()) or are_sent()


def mark_own_root() -> None:
    """Marks the root of ``tensorboard_storage``, if it is a directory, so that the platform can identify the
    storage when it deletes the files. Raises MarkerError.
    """
    root = _own_root()
    if root:
        Path(root).mkdir(parents=True, exist_ok=True)
        _storage_marker.mark(Path(root))


def _own_root() -> str | None:
    """The root of ``tensorboard_storage``: empty for an object store, None if the section is missing."""
    return os.environ.get("TRAINYARD_TENSORBOARD_ROOT")


def are_sent() -> bool:
    """Whether the files are uploaded from the run's folder to an object store."""
    own = _own_root()
    return os.environ.get("TRAINYARD_CHECKPOINT_UPLOADS") == "1" if own is None else own == ""


def _storage_root() -> str | None:
    """The root of a directory storage; None if the files are uploaded to an object store."""
    if are_sent():
        return None
    return _own_root() or os.environ.get("TRAINYARD_CHECKPOINT_ROOT")
