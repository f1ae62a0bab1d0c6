"""``ctx.checkpoint``: folders that the trial can continue from.

Storing has three steps: declare, write, complete. The files are written directly into the checkpoint's folder on
the storage, so no file is copied or moved. The folder is a checkpoint only after the platform has completed it:
the platform compares every file with the manifest that this process makes after the last write. An interruption
leaves an incomplete folder, which is never restored and which the platform or the agent removes.
"""

from __future__ import annotations

import contextlib
import enum
import functools
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, NoReturn, TypeVar, cast

from .. import _log as log
from .. import _missing_names, _storage, _values
from .._distributed import DistributedContext
from .._distributed._context import alone
from .._files import PathLike
from .._storage import DamagedError, Plan, Selector
from ..errors import CheckpointError, TrainyardError
from ._background import Background, StoredCheckpoint
from ._shards import Here, check_metadata, store_shard
from ._store import CheckpointStore

Method = TypeVar("Method", bound=Callable[..., Any])
Found = TypeVar("Found")


class DownloadMode(enum.Enum):
    """Selects the processes that read a checkpoint from its store in distributed training."""

    LocalWorkersShareDownload = "LOCAL_WORKERS_SHARE_DOWNLOAD"
    """The default: every rank makes the call, and the first process of each host reads for its host."""
    NoSharedDownload = "NO_SHARED_DOWNLOAD"
    """Each process that makes the call reads for itself."""


def _takes_storage_id(method: Method) -> Method:
    """Lets a method accept ``storage_id``, Determined's name for ``uuid``."""

    @functools.wraps(method)
    def named(*arguments: Any, **more: Any) -> Any:
        if "storage_id" in more:
            if "uuid" in more or len(arguments) > 1:
                raise TypeError(f"{method.__name__} takes one of uuid and storage_id, not both")
            more["uuid"] = more.pop("storage_id")
        return method(*arguments, **more)

    return cast("Method", named)


class CheckpointContext:
    """Stores and restores checkpoints.

    Storing waits at most two seconds for the platform, and not at all while the platform is known to be
    unavailable: the checkpoint is in the run's spool and is completed later. Reading waits without a limit. The
    calls raise CheckpointError when the platform refuses a checkpoint permanently, as RunSupersededError when a
    later run of the trial has begun. They raise ValueError or TypeError for arguments that cannot be stored, and
    OSError when the storage fails.

    In distributed training only the chief stores, or every rank makes the call with ``shard=True`` and adds its
    files to one checkpoint. An error on one rank is raised on all ranks.
    """

    def __init__(
        self,
        store: CheckpointStore,
        distributed: DistributedContext | None = None,
        reports: Callable[[], int] = lambda: 0,
    ) -> None:
        self._store = store
        # The number of reports that this process has made.
        self._reports = reports
        self._stores = 0
        self._distributed = distributed if distributed is not None else alone()
        self._background = Background()

    def upload(
        self,
        ckpt_dir: PathLike | None,
        metadata: Mapping[str, Any],
        *,
        shard: bool = False,
        selector: Selector | None = None,
    ) -> str:
        """Stores a copy of a folder's files and returns the checkpoint's UUID.

        ``metadata`` needs ``steps_completed``. ``selector`` is called with each relative path and returns whether
        to store the file. Links are followed; empty folders and file modes are not kept. With ``shard=True`` a
        rank without files passes None as its folder.
        """
        source = None if ckpt_dir is None else Path(ckpt_dir)
        if (source is None and not shard) or (source is not None and not source.is_dir()):
            raise ValueError(f"{source} is not a folder")
        with self.store_path(metadata, shard=shard) as (path, uuid):
            if source is not None:
                _storage.copy_in(source, path, selector)
        return uuid

    @contextlib.contextmanager
    def store_path(
        self, metadata: Mapping[str, Any], *, shard: bool = False
    ) -> Iterator[tuple[Path, str]]:
        """Yields an empty folder to write the files to, and the UUID; leaving the block stores the
        checkpoint.

        ``metadata`` needs ``steps_completed``. An exception in the block removes the folder and propagates. Close
        the files before leaving the block: the checkpoint contains only data that is on disk by then.

        With ``shard=True`` every rank makes the call, in the same order, and gets a separate folder; the
        checkpoint has the files and the metadata of all ranks. Two ranks must not use the same file name.
        """
        self._check_may_store("store_path", shard)
        self._stores += 1
        self._background.drain()
        if shard and self._distributed.size > 1:
            with store_shard(self._store, self._distributed, self._here, None, metadata) as place:
                yield place
        else:
            plain, steps = check_metadata(metadata)
            with self._store_alone(plain, steps, _new_uuid()) as place:
                yield place

    def store_in_background(
        self, write: Callable[[Path], None], metadata: Mapping[str, Any], *, shard: bool = False
    ) -> StoredCheckpoint:
        """Stores a checkpoint in a thread, while the training continues, and returns its handle.

        The thread calls ``write`` with an empty folder. The training must not change the data that ``write`` uses:
        pass it a copy of the model. Checkpoints are stored in the order of the calls; a call waits while two
        earlier checkpoints are being stored. An error is raised by the handle's ``wait``, by the next checkpoint
        call, or at the end of the context, whichever comes first. The end of the context waits for all
        checkpoints. ``shard=True`` is as with ``store_path``.
        """
        self._check_may_store("store_in_background", shard)
        self._stores += 1
        self._background.check()
        if not shard or self._distributed.size == 1:
            plain, steps = check_metadata(metadata)
            uuid = _new_uuid()
            return self._background.submit(
                uuid, lambda: _fill(self._store_alone(plain, steps, uuid), write)
            )
        part = _values.metrics_of(metadata, "metadata")
        branch = self._background.branch_of(self._distributed)
        uuid = self._distributed.broadcast(_new_uuid() if self._distributed.rank == 0 else None)
        return self._background.submit(
            uuid, lambda: _fill(store_shard(self._store, branch, self._here, uuid, part), write)
        )

    @_takes_storage_id
    def download(
        self,
        uuid: str,
        ckpt_dir: PathLike,
        download_mode: DownloadMode = DownloadMode.LocalWorkersShareDownload,
        *,
        selector: Selector | None = None,
    ) -> None:
        """Copies a complete checkpoint's files into a folder and verifies the SHA-256 of each.

        In distributed training every rank makes the call, with the same folder on each host, and the host's first
        process fills the folder. DownloadMode can change this.
        """

        def copy() -> None:
            plan = self._plan(uuid)
            target = Path(ckpt_dir)
            target.mkdir(parents=True, exist_ok=True)
            _storage.copy_out(uuid, plan, target, selector)

        self._once_a_host(uuid, download_mode, copy)

    @_takes_storage_id
    @contextlib.contextmanager
    def restore_path(
        self,
        uuid: str,
        download_mode: DownloadMode = DownloadMode.LocalWorkersShareDownload,
        *,
        compare: bool = False,
        selector: Selector | None = None,
    ) -> Iterator[Path]:
        """Yields the stored folder of a complete checkpoint, not a copy: only read from it.

        The existence and size of each file are checked, with ``compare`` also its SHA-256. Without ``compare`` an
        exception in the block has the contents compared, since a changed file may be its reason, unless the block
        has made a report or stored a checkpoint before: then the training has begun. In distributed training every
        rank makes the call, unless DownloadMode says otherwise. ``selector`` exists for scripts of Determined and
        is ignored: the folder has all files.
        """

        def look() -> Plan:
            plan = self._plan(uuid)
            _storage.check_sizes(uuid, plan)
            if compare:
                _storage.check_contents(uuid, plan)
            return plan

        # Every process gets the plan: only one of them may read the changed file, and its end ends the others.
        plan = self._once_a_host(uuid, download_mode, look)
        begun = (self._reports(), self._stores)
        try:
            yield plan.path
        except TrainyardError:
            raise
        except Exception:
            if not compare and begun == (self._reports(), self._stores):
                self._report_changes(uuid, plan)
            raise

    @_takes_storage_id
    def get_metadata(self, uuid: str) -> dict[str, Any]:
        """The metadata of a complete checkpoint."""
        self._background.drain()
        return self._store.plan(_check_uuid(uuid)).metadata

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise _missing_names.missing_name("ctx.checkpoint", name, _missing_names.CHECKPOINT)

    @contextlib.contextmanager
    def _store_alone(
        self, metadata: dict[str, Any], steps: float, uuid: str
    ) -> Iterator[tuple[Path, str]]:
        path = self._store.declare(uuid, steps, metadata)
        is_new = False
        try:
            is_new = _make_folder(path)
            yield path, uuid
            _storage.replace_links(path)
            _storage.write_metadata(path, metadata)
            manifest = self._store.seal(uuid, path)
        except BaseException:
            if is_new:
                import shutil

                shutil.rmtree(path, ignore_errors=True)
            self._store.give_up(uuid)
            raise
        self._store.complete(uuid, manifest)

    @property
    def _here(self) -> Here:
        at = self._distributed
        return Here(at.cross_rank, at.cross_size, at.local_rank == 0)

    def _is_by_host(self) -> bool:
        return self._here.hosts > 1 and self._store.by_host() is not None

    def _check_may_store(self, method: str, shard: bool) -> None:
        rank = self._distributed.rank
        if rank != 0 and not shard:
            raise RuntimeError(
                f"{method} was called on rank {rank} without shard=True: "
                "call it on rank 0 only, or on every rank with shard=True"
            )

    def _plan(self, uuid: str) -> Plan:
        plan = self._store.plan(uuid)
        self._store.fetch(uuid, plan)
        _storage.check_visible(uuid, plan)
        return plan

    def _reporting(self, uuid: str, read: Callable[[], Found]) -> Found:
        """Reports damage to the platform before it is raised, so that the trial's next run takes another one."""
        try:
            return read()
        except DamagedError as error:
            found = self._store.report_damage(uuid, str(error))
            raise CheckpointError(f"{error}: {found}") from error

    def _report_changes(self, uuid: str, plan: Plan) -> None:
        """Compares the contents after an exception in the script's block. Raises CheckpointError for a changed file;
        any other failure is only logged, so that the script's exception is raised.
        """
        try:
            self._reporting(uuid, functools.partial(_storage.check_contents, uuid, plan))
        except CheckpointError:
            raise
        except Exception as error:
            log.warning("the files of checkpoint %s could not be compared: %s", uuid, error)

    def _once_a_host(self, uuid: str, mode: DownloadMode, read: Callable[[], Any]) -> Any:
        """Reads in one process of each host, and returns the result or raises the error in all processes of the
        host.
        """
        self._background.drain()
        _check_uuid(uuid)
        if not isinstance(mode, DownloadMode):
            raise TypeError(f"download_mode must be a DownloadMode, not {mode!r}")
        if mode is DownloadMode.NoSharedDownload or self._distributed.local_size == 1:
            return self._reporting(uuid, read)
        if self._distributed.local_rank == 0:
            try:
                result = self._reporting(uuid, read)
            except Exception as error:
                self._distributed.broadcast_local((str(error), None))
                raise
            self._distributed.broadcast_local((None, result))
            return result
        error, result = self._distributed.broadcast_local()
        if error is not None:
            raise CheckpointError(error)
        return result


def stores_by_host(checkpoints: CheckpointContext) -> bool:
    """Whether each host stores the files of its ranks, because the hosts share no checkpoint folder."""
    return checkpoints._is_by_host()  # noqa: SLF001 — the only way to it


def background_of(checkpoints: CheckpointContext) -> Background:
    """The queue of checkpoints that are being stored, for the end of the run."""
    return checkpoints._background  # noqa: SLF001 — the only way to it


def _fill(
    stored: contextlib.AbstractContextManager[tuple[Path, str]], write: Callable[[Path], None]
) -> None:
    with stored as (path, _):
        write(path)


def _new_uuid() -> str:
    # A local import: `import trainyard` must stay fast.
    from uuid import uuid4

    return str(uuid4())


def _check_uuid(uuid: object) -> str:
    if not isinstance(uuid, str) or not uuid:
        raise TypeError(f"uuid must be the UUID of a checkpoint as a string, not {uuid!r}")
    return uuid


def _make_folder(path: Path) -> bool:
    """Creates the checkpoint's folder. Returns whether it was empty, so that this call may remove it on failure."""
    try:
        os.makedirs(path)
        return True
    except FileExistsError:
        return not any(os.scandir(path))
