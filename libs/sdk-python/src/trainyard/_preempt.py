"""``ctx.preempt``: whether the platform requests a stop of this run."""

from __future__ import annotations

import enum

from . import _end
from ._distributed import DistributedContext
from ._distributed._context import alone, group_of
from ._signals import SignalWatcher, StopFile


class PreemptMode(enum.Enum):
    """Selects the ranks that ask for a stop in distributed training."""

    WorkersAskChief = "WORKERS_ASK_CHIEF"
    """The default: every rank calls ``should_preempt`` at the same point of its loop and gets the chief's answer,
    so that all stop at the same batch.
    """
    ChiefOnly = "CHIEF_ONLY"
    """Only the chief may ask. The script passes the answer to the other ranks itself."""
    WorkersAskPlatform = "WORKERS_ASK_PLATFORM"
    """Each rank asks independently: for scripts whose ranks agree by other means."""
    WorkersAskMaster = WorkersAskPlatform
    """Determined's name for WorkersAskPlatform."""


class PreemptContext:
    """Answers whether to stop, without waiting for the platform: a background thread keeps the answer up to date."""

    def __init__(
        self,
        watcher: SignalWatcher | None,
        end: _end.EndRecord,
        distributed: DistributedContext | None = None,
        mode: PreemptMode = PreemptMode.WorkersAskChief,
        stop_file: StopFile | None = None,
    ) -> None:
        self._watcher = watcher
        self._end = end
        self._distributed = distributed if distributed is not None else alone()
        self._mode = mode
        # On a host without the chief, only that host's ranks see the agent's stop request.
        self._stop_file = stop_file
        self._asks_chief = mode is PreemptMode.WorkersAskChief and self._distributed.size > 1
        self._answer: str | None = None
        self._noted = False
        self._acknowledged = False

    def should_preempt(self, auto_ack: bool = True) -> bool:
        """Whether the script should save a checkpoint and return. The call sends no request and never raises.

        With ``auto_ack``, returning True counts as the script's promise to stop. When the script then ends, the
        run continues later from its latest checkpoint (after a pause or a preemption) or is over (after a cancel
        or a search's stop). With ``auto_ack=False`` the script promises by ``acknowledge_preemption_signal``.

        In distributed training every rank makes the call at the same point of its loop, equally often, and gets
        the same answer (see PreemptMode). If another rank has ended, DistributedError is raised.
        """
        if self._asks_chief:
            stop = self._ask_chief()
        else:
            self._check_may_ask()
            stop = self._watcher is not None and self._watcher.stop
        if stop and auto_ack:
            self.acknowledge_preemption_signal()
        return stop

    def acknowledge_preemption_signal(self) -> None:
        """Promises to stop; does nothing without a stop request. In distributed training only the chief's promise
        counts.
        """
        if self._acknowledged or not self._knows_of_stop():
            return
        self._acknowledged = True
        if self._distributed.rank == 0 or self._mode is PreemptMode.WorkersAskPlatform:
            self._end.write(_end.ACKNOWLEDGED_STOP, self.why)

    @property
    def why(self) -> str:
        """The reason to stop: ``pause``, ``search_stop``, ``cancel``, ``preempted``, …; empty without a stop
        request.
        """
        if self._answer is not None:
            return self._answer
        return self._watcher.why if self._watcher is not None else ""

    @property
    def acknowledged(self) -> bool:
        """Whether the script has promised to stop."""
        return self._acknowledged

    def _knows_of_stop(self) -> bool:
        if self._asks_chief:
            return self._answer is not None
        return self._watcher is not None and self._watcher.stop

    def _check_may_ask(self) -> None:
        if self._mode is PreemptMode.ChiefOnly and self._distributed.rank != 0:
            raise RuntimeError(
                "with PreemptMode.ChiefOnly only the chief may call should_preempt: "
                "call it on rank 0, or use PreemptMode.WorkersAskChief"
            )

    def _ask_chief(self) -> bool:
        """Returns the chief's answer. All ranks call this equally often, so after a yes no further exchange is
        needed.
        """
        if self._answer is None:
            if self._distributed.rank != 0:
                self._note_stop_file()
            self._answer = self._distributed.broadcast(self._chiefs_answer())
        return self._answer is not None

    def _note_stop_file(self) -> None:
        why = self._stop_file.why() if self._stop_file is not None and not self._noted else None
        if why is not None:
            self._noted = True
            group_of(self._distributed).note(why)

    def _chiefs_answer(self) -> str | None:
        if self._distributed.rank != 0:
            return None
        if self._watcher is not None and self._watcher.stop:
            return self._watcher.why
        notes = group_of(self._distributed).take_notes()
        return str(notes[0]) if notes else None
