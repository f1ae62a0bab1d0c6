"""``trainyard.init()``, and the context that it returns."""

from __future__ import annotations

import atexit
import os
import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from . import _end, _info, _local, _missing_names
from . import _log as log
from ._checkpoint import CheckpointContext, background_of
from ._checkpoint._sender import CheckpointSender
from ._checkpoint._spool import CheckpointSpool
from ._checkpoint._spooled_store import SpooledStore
from ._checkpoint._store import CheckpointStore, RemoteStore
from ._distributed import DistributedContext
from ._distributed._context import alone
from ._environment import tell_environment
from ._files import PathLike
from ._info import Info
from ._limits import FLUSH_S
from ._preempt import PreemptContext, PreemptMode
from ._search_metric import metric_of
from ._searcher import SearcherContext
from ._sender import Sender
from ._signals import STOP_FILE, SignalWatcher, StopFile
from ._spool import Spool
from ._train import TrainContext
from .errors import InvalidHP, NotInTaskError
from .profiler._context import ProfilerContext, follow
from .tensorboard._context import TensorBoardContext, files_of
from .tensorboard._folder import are_sent, folder_of
from .tensorboard._sync import TensorBoardSync


def init(
    *,
    distributed: DistributedContext | None = None,
    preempt_mode: PreemptMode = PreemptMode.WorkersAskChief,
    local_dir: PathLike | None = None,
    local_hparams: Mapping[str, Any] | None = None,
    local_config: Mapping[str, Any] | None = None,
    local_seed: int = 0,
) -> Context:
    """Opens the context of this run; use it as ``with trainyard.init() as ctx:``.

    Inside a task everything comes from the environment and no request is made before this returns. Outside a task
    the context is local: the ``local_…`` arguments replace the platform's values, and everything is written to
    ``local_dir``, by default ``$TRAINYARD_LOCAL_DIR`` or a new folder under ``./trainyard-local``. In a folder
    with an earlier run the run's number increases, and the run continues from the latest checkpoint.

    In distributed training every rank passes a DistributedContext, which the context closes at its end. Without a
    DistributedContext each process assumes that it is alone.

    Raises NotInTaskError when the environment of a task is incomplete.
    """
    env = os.environ
    together = distributed if distributed is not None else alone()
    if distributed is None and env.get("RANK", "0") != "0" and env.get("LOCAL_RANK") is not None:
        message = "init() on rank %s has no distributed=: its reports are stored in addition to those of rank 0"
        log.warning(message, env["RANK"])
    if _info.in_task(env):
        return _open_in_task(env, together, preempt_mode)
    if together.rank == 0:
        folder = _local.folder_of(local_dir, env)
        info = _local.info_of(folder, local_hparams or {}, local_config or {}, local_seed)
        print(f"trainyard: not in a task, writing to {folder}", file=sys.stderr)
        together.broadcast((folder, info))
    else:
        folder, info = together.broadcast(None)
    info = info._replace(rank=together.cross_rank, nnodes=together.cross_size)
    spool = Spool(info.run_dir / "spool", info.rank)
    store = _local.LocalStore(folder / "checkpoints")
    return Context(info, spool, None, None, store, together, preempt_mode)


def _open_in_task(
    env: Mapping[str, str], together: DistributedContext, preempt_mode: PreemptMode
) -> Context:
    info = _info.info_of(env)
    connection = _info.connection_of(env)
    run, token = info.run_id, connection.token
    asks = together.rank == 0 or preempt_mode is PreemptMode.WorkersAskPlatform
    sender: Sender | None = None
    watcher: SignalWatcher | None = None
    try:
        # Creating these objects validates the URLs; requests are sent later.
        store = _store_of(info, connection)
        spool = Spool(info.run_dir / "spool", info.rank)
        # Only a host's first process measures the host, so each host needs a sender.
        if together.local_rank == 0:
            sender = Sender(spool, connection.metrics_url, run, token)
        if asks:
            watcher = SignalWatcher(connection.url, run, token, info.run_dir / STOP_FILE)
        if together.rank == 0:
            tell_environment(connection.url, run, token)
    except ValueError as error:
        raise NotInTaskError(f"the environment of this task cannot be used: {error}") from None
    if sender is not None:
        sender.start()
    sync: TensorBoardSync | None = None
    if are_sent() and together.local_rank == 0:
        sync = TensorBoardSync(connection.url, token, run, folder_of(info))
    return Context(info, spool, sender, watcher, store, together, preempt_mode, sync)


def _store_of(info: Info, connection: _info.Connection) -> CheckpointStore:
    """Returns the checkpoints' store, which uses the spool if the storage's root is known."""
    url, run, token = connection.url, info.run_id, connection.token
    spooled = info.run_dir / "spool"
    remote = RemoteStore(url, run, token, info.run_dir / "restored", spooled)
    if connection.checkpoint_root is None:
        return remote
    spool = CheckpointSpool(spooled)
    root, uploads = connection.checkpoint_root, connection.checkpoint_uploads
    share = connection.checkpoint_disk_share
    sender = CheckpointSender(spool, root, url, run, token, uploads, share)
    return SpooledStore(remote, spool, sender)


class Context:
    """The open run: ``info``, ``train``, ``checkpoint``, ``preempt``, ``profiler``, ``tensorboard``,
    ``distributed``, and ``searcher`` for scripts that get their training length from it. The context may be used
    from several threads. A forked child may report, too. The run ends when the process that opened the context
    leaves it.
    """

    def __init__(
        self,
        info: Info,
        spool: Spool,
        sender: Sender | None,
        watcher: SignalWatcher | None,
        store: CheckpointStore,
        distributed: DistributedContext,
        preempt_mode: PreemptMode,
        sync: TensorBoardSync | None = None,
    ) -> None:
        self.info = info
        self.distributed = distributed
        self._spool = spool
        self._sender = sender
        self._watcher = watcher
        self._end = _end.EndRecord(info.run_dir)
        self._sync = sync
        self.tensorboard = TensorBoardContext(info, distributed.rank, sync)
        self.train = TrainContext(
            spool,
            sender,
            self._end,
            info.steps_completed,
            distributed.rank,
            metric_of(info.config),
            self.tensorboard,
        )
        self._store = store
        self.checkpoint = CheckpointContext(store, distributed, lambda: self.train.reports)
        stop_file = StopFile(info.run_dir / STOP_FILE) if distributed.local_rank == 0 else None
        self.preempt = PreemptContext(watcher, self._end, distributed, preempt_mode, stop_file)
        self.profiler = ProfilerContext(
            spool, sender, lambda: self.train.latest_steps, info.rank, distributed.local_rank
        )
        follow(self.profiler, info.config)
        self.searcher = SearcherContext(info, self.train, distributed)
        self._pid = os.getpid()
        self._closed = False
        atexit.register(self._close_at_exit)

    def __enter__(self) -> Context:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pid != os.getpid() or self._closed:
            # A forked child that leaves the block does not end the run.
            return
        if isinstance(error, InvalidHP):
            self._give_up(error)
        failure = _failure_of(error)
        if failure is None:
            try:
                # The run ends only after its background checkpoints are stored or have failed.
                background_of(self.checkpoint).drain()
            except BaseException as late:
                self._fail(_end.describe(late), late)
                self._close()
                raise
        if failure is not None:
            self._fail(failure, error)
        elif self.distributed.rank == 0 and not self.preempt.acknowledged:
            self._end.write(_end.FINISHED, "")
        self._close()

    def _give_up(self, error: InvalidHP) -> None:
        """Invalid hyperparameters end the trial for the search, but are not a failure of the script."""
        print(f"trainyard: invalid hyperparameters: {error}", file=sys.stderr)
        self._end.write(_end.INVALID_HYPERPARAMETERS, f"invalid hyperparameters: {error}")
        self._close()
        raise SystemExit(0) from error

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise _missing_names.missing_name("the context", name, _missing_names.CONTEXT)

    def _fail(self, message: str, error: BaseException | None) -> None:
        follows = error is not None and _end.is_of_lost_peer(error)
        _end.tell_launcher(message, error, follows)
        if self.distributed.size == 1:
            self._end.write(_end.ERROR, message)
            return
        named = f"rank {self.distributed.rank}: {message}"
        self._end.write(_end.ERROR, named, follows=follows)

    def alert(self, title: str, text: str = "", level: str = "info") -> None:
        """Raises an alert, an event that webhooks send: ``level`` is ``"debug"``, ``"info"``, ``"warn"`` or
        ``"error"``. It is delivered like a report of ``ctx.train``, by the chief, at most 100 times in a run.
        """
        self.train.alert(title, text, level)

    def close(self) -> None:
        """Ends the run as finished, for scripts that cannot use ``with``. A second call does
        nothing.
        """
        self.__exit__(None, None, None)

    def _close(self) -> None:
        """Waits a few seconds for undelivered reports and checkpoints; the agent delivers the rest."""
        self._closed = True
        # The connections close first, so that the other ranks learn of a failure at once.
        self.distributed.close()
        self._finish_checkpoints()
        deadline = time.monotonic() + FLUSH_S
        self.profiler.off()
        files_of(self.tensorboard).close()
        if self._sync is not None:
            self._sync.close()
        if self._watcher is not None:
            self._watcher.close()
        if self._sender is not None:
            if not self._sender.flush(deadline - time.monotonic()):
                log.debug("the agent delivers the last reports of this run; nothing is lost")
            self._sender.stop(1.0)
        self._store.close(deadline - time.monotonic())
        self._spool.close()
        atexit.unregister(self._close_at_exit)

    def _finish_checkpoints(self) -> None:
        """Finishes background checkpoints. After an error of the script, a failed store is only logged."""
        try:
            background_of(self.checkpoint).drain(FLUSH_S if self.distributed.size > 1 else None)
        # The run ends with the script's error, not with that of the checkpoint.
        except BaseException as error:
            log.warning("a checkpoint in the background could not be stored: %s", error)
        background_of(self.checkpoint).close()

    def _close_at_exit(self) -> None:
        """Delivers and closes, at interpreter exit, a context that the script left open."""
        if self._closed or self._pid != os.getpid():
            return
        # The interpreter sets last_value when an exception has ended the script. The exit code is unknown here, so
        # other ends are not recorded: the agent sees the code.
        error = getattr(sys, "last_value", None)
        # In a notebook or at a prompt, last_value is the error of any cell, and the interpreter still runs.
        if error is not None and not hasattr(sys, "ps1"):
            self._fail(_end.describe(error), error)
        self._close()


def _failure_of(error: BaseException | None) -> str | None:
    """The failure's description if an exception left the context; None for a normal end."""
    if error is None:
        return None
    if isinstance(error, SystemExit):
        if error.code is None or error.code == 0:
            return None
        return f"sys.exit({error.code!r})"
    return _end.describe(error)
