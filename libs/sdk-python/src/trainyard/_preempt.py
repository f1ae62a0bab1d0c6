"""``ctx.preempt``: whether the platform wants this run to stop."""

from __future__ import annotations

from typing import Optional

from . import _end
from ._signals import SignalWatcher


class PreemptContext:
    """Asks without waiting; the answer is kept up to date in the background."""

    def __init__(self, watcher: Optional[SignalWatcher], end: _end.EndRecord) -> None:
        self._watcher = watcher
        self._end = end
        self._acknowledged = False

    def should_preempt(self, auto_ack: bool = True) -> bool:
        """Whether the script should save a checkpoint and return. Costs no request and never
        raises.

        With ``auto_ack`` a True counts as the script's promise to stop: when it then ends, the run
        is continued later from its latest checkpoint (after a pause or a preemption) or is over
        (after a cancel or a search's stop). With ``auto_ack=False`` the script promises by
        ``acknowledge_preemption_signal``.

        In distributed training ask on one process and send the answer to the others: they ask at
        different moments.
        """
        if self._watcher is None or not self._watcher.stop:
            return False
        if auto_ack:
            self.acknowledge_preemption_signal()
        return True

    def acknowledge_preemption_signal(self) -> None:
        """Promises to stop; without a stop request it does nothing."""
        if self._acknowledged or self._watcher is None or not self._watcher.stop:
            return
        self._acknowledged = True
        self._end.write(_end.ACKNOWLEDGED_STOP, self.why)

    @property
    def why(self) -> str:
        """Why to stop: ``pause``, ``search_stop``, ``cancel``, ``preempted``, …; empty while there
        is no stop.
        """
        return self._watcher.why if self._watcher is not None else ""

    @property
    def acknowledged(self) -> bool:
        """Whether the script has promised to stop."""
        return self._acknowledged
