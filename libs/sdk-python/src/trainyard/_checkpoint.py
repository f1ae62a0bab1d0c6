"""``ctx.checkpoint``: folders that the trial can continue from.

Storing is declare, write, complete. The files are written straight into the checkpoint's folder, on
the storage itself, so nothing has to be copied twice or moved; the folder counts as a checkpoint only
once the platform has completed it, for which it compares every file with the manifest that is made
here after the last write. Whatever is interrupted before that leaves a folder that is never restored
from, and that the platform or the agent clears.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional, Tuple

from . import _storage, _values
from ._checkpoint_store import CheckpointStore
from ._files import PathLike
from ._storage import Selector


class CheckpointContext:
    """Stores and restores checkpoints.

    Storing waits at most two seconds for the platform, and not at all once that is known to be away:
    a checkpoint that is on the storage and in the run's spool is completed later. Reading waits for
    as long as it takes. The calls raise CheckpointError when it refuses for good (RunSupersededError when a later run of the
    trial has begun), ValueError or TypeError for arguments that cannot be stored, and OSError when
    the storage itself fails.

    In distributed training store on one process of the trial: each call makes a checkpoint of its
    own.
    """

    def __init__(self, store: CheckpointStore) -> None:
        self._store = store

    def upload(
        self,
        ckpt_dir: PathLike,
        metadata: Mapping[str, Any],
        *,
        selector: Optional[Selector] = None,
    ) -> str:
        """Stores a copy of a folder's files and returns the checkpoint's UUID.

        ``metadata`` needs ``steps_completed``. ``selector`` is asked with each relative path and
        says whether to store it. Links are followed; empty folders and file modes are not kept.
        """
        source = Path(ckpt_dir)
        if not source.is_dir():
            raise ValueError(f"{source} is not a folder")
        with self.store_path(metadata) as (path, uuid):
            _storage.copy_in(source, path, selector)
        return uuid

    @contextlib.contextmanager
    def store_path(self, metadata: Mapping[str, Any]) -> Iterator[Tuple[Path, str]]:
        """Yields an empty folder to write the files to, and the UUID; leaving the block stores the
        checkpoint.

        ``metadata`` needs ``steps_completed``. An exception in the block removes the folder again
        and goes on. Close the files before leaving the block: the checkpoint is what the disk holds
        then.
        """
        plain, steps = _check_metadata(metadata)
        # Loaded here, as in _storage.
        from uuid import uuid4

        uuid = str(uuid4())
        path = self._store.declare(uuid, steps, plain)
        ours = False
        try:
            ours = _make_folder(path)
            yield path, uuid
            _storage.replace_links(path)
            _storage.write_metadata(path, plain)
            manifest = _storage.seal(path)
        except BaseException:
            if ours:
                import shutil

                shutil.rmtree(path, ignore_errors=True)
            self._store.give_up(uuid)
            raise
        self._store.complete(uuid, manifest)

    def download(
        self, uuid: str, ckpt_dir: PathLike, *, selector: Optional[Selector] = None
    ) -> None:
        """Copies a complete checkpoint's files into a folder, each compared with its SHA-256."""
        plan = self._store.plan(_check_uuid(uuid))
        _storage.check_visible(uuid, plan)
        target = Path(ckpt_dir)
        target.mkdir(parents=True, exist_ok=True)
        _storage.copy_out(uuid, plan, target, selector)

    @contextlib.contextmanager
    def restore_path(self, uuid: str) -> Iterator[Path]:
        """Yields the folder of a complete checkpoint, to read from: it is the stored one, not a
        copy.

        Each file is there in its size; use ``download`` to have the contents compared too.
        """
        plan = self._store.plan(_check_uuid(uuid))
        _storage.check_visible(uuid, plan)
        _storage.check_sizes(uuid, plan)
        yield plan.path

    def get_metadata(self, uuid: str) -> dict[str, Any]:
        """The metadata that a complete checkpoint was stored with."""
        return self._store.plan(_check_uuid(uuid)).metadata


def _check_metadata(metadata: Any) -> Tuple[dict[str, Any], float]:
    plain = _values.metrics_of(metadata, "metadata")
    if "steps_completed" not in plain:
        raise ValueError("metadata needs 'steps_completed': the steps that the checkpoint holds")
    steps = _values.steps_of(metadata["steps_completed"])
    plain["steps_completed"] = steps
    # Refused here, before anything is declared, when text in it has no UTF-8.
    _values.encode(plain)
    return plain, steps


def _check_uuid(uuid: Any) -> str:
    if not isinstance(uuid, str) or not uuid:
        raise TypeError(f"a checkpoint is named by its UUID as a string, not {uuid!r}")
    return uuid


def _make_folder(path: Path) -> bool:
    """Makes the checkpoint's folder, and says whether all that will be in it is this call's."""
    try:
        os.makedirs(path)
        return True
    except FileExistsError:
        return not any(os.scandir(path))
