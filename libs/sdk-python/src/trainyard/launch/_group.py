"""The ranks of this node from their start to their end.

States: running, until a verdict, the end of all ranks, or a signal; ending, in which the remaining ranks get
SIGTERM, and SIGKILL after the grace period; over.
"""

from __future__ import annotations

import queue
import signal
import sys
import time
from pathlib import Path
from types import FrameType

from .. import _end
from .._limits import LAUNCH_LOOK_S, LAUNCH_STALL_LOOK_S
from ._arbiter import Verdict
from ._nodes import Nodes
from ._rank import RankProcess


class Group:
    """Waits for this node's ranks, and stops all of them when one fails."""

    def __init__(self, nodes: Nodes, run_dir: Path | None, grace_s: float) -> None:
        self._nodes = nodes
        self._run_dir = run_dir
        self._grace_s = grace_s
        # Python's SimpleQueue may wait forever if a signal interrupts a wait at its end.
        self.ended: queue.Queue[RankProcess] = queue.Queue()
        self._ranks: list[RankProcess] = []
        self._reported: set[int] = set()
        self._stalled: dict[int, str] = {}
        self._look_for_stalls_at = 0.0
        self._signal: int | None = None

    def catch_signals(self) -> None:
        """Installs handlers with which SIGTERM and SIGINT first stop the ranks."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)

    def add(self, rank: RankProcess) -> None:
        """Adds a started rank."""
        self._ranks.append(rank)

    def end(self) -> None:
        """Stops the started ranks when another rank cannot be started."""
        self._end_ranks(signal.SIGTERM)

    def wait(self) -> int:
        """Waits until all ranks have ended, and returns the launcher's exit code."""
        while self._signal is None:
            self._wait_a_little()
            self._tell_news()
            self._nodes.look()
            if self._nodes.verdict is not None:
                return self._end_by(self._nodes.verdict)
            if self._nodes.is_over:
                return 0
        return self._end_by_signal(self._signal)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self._signal = self._signal or number

    def _wait_a_little(self) -> None:
        try:
            self.ended.get(timeout=LAUNCH_LOOK_S)
        except queue.Empty:
            pass

    def _tell_news(self) -> None:
        for rank in self._ranks:
            if rank.rank in self._reported:
                continue
            if rank.has_failed():
                self._reported.add(rank.rank)
                self._nodes.failed(rank.failure())
            elif rank.code == 0:
                self._reported.add(rank.rank)
                self._nodes.ended_well(rank.rank)
        self._tell_stalls()
        if all(rank.code == 0 for rank in self._ranks):
            self._nodes.done()
        if not self._living():
            self._nodes.settled()

    def _tell_stalls(self) -> None:
        now = time.monotonic()
        if now < self._look_for_stalls_at:
            return
        self._look_for_stalls_at = now + LAUNCH_STALL_LOOK_S
        for rank in self._living():
            text = rank.stalled()
            if text != self._stalled.get(rank.rank, ""):
                self._stalled[rank.rank] = text
                self._nodes.stalled(rank.rank, text)

    def _living(self) -> list[RankProcess]:
        return [rank for rank in self._ranks if rank.code is None]

    def _end_by(self, verdict: Verdict) -> int:
        # The verdict is written before anything slow, so that it is recorded even if this process is killed.
        if self._run_dir is not None:
            _end.EndRecord(self._run_dir).write(_end.ERROR, verdict.message, decided=True)
        self._end_ranks(signal.SIGTERM)
        for rank in self._ranks:
            rank.finish_output()
        self._report(verdict)
        return verdict.exit_code

    def _end_by_signal(self, number: int) -> int:
        """Stops the ranks after a signal. Inside a task the agent has sent SIGTERM to every process of the run
        itself.
        """
        if self._run_dir is not None and number == signal.SIGTERM:
            for rank in self._living():
                rank.was_told_to_end = True
            self._end_ranks(None)
        else:
            self._end_ranks(number)
        for rank in self._ranks:
            rank.finish_output()
        return 0 if all(rank.code == 0 for rank in self._ranks) else 128 + number

    def _end_ranks(self, number: int | None) -> None:
        if number is not None:
            for rank in self._living():
                rank.end(number)
        deadline = time.monotonic() + self._grace_s
        while self._living() and time.monotonic() < deadline:
            self._wait_a_little()
        while self._living():
            for rank in self._living():
                rank.end(signal.SIGKILL)
            self._wait_a_little()

    def _report(self, verdict: Verdict) -> None:
        """Logs the first failure, then the outcomes of this node's other ranks."""
        lines = [f"trainyard: {verdict.headline}"]
        lines += [f"  {line}" for line in verdict.traceback.splitlines()]
        for rank in self._ranks:
            if rank.rank == verdict.rank:
                continue
            if rank.was_told_to_end:
                lines.append(f"trainyard: rank {rank.rank} was ended because of that")
            elif rank.code != 0:
                lines.append(f"trainyard: after that rank {rank.rank}: {rank.failure().summary}")
        lines.append(f"trainyard: the run ended because of {verdict.headline}")
        sys.stderr.write("\n".join(lines) + "\n")
        sys.stderr.flush()
