"""Messages between the launchers of a run's nodes: failures to the first node's, its verdict to all.

When a launcher is lost with its node, each of the other launchers decides by itself.
"""

from __future__ import annotations

import time
from typing import Any

from .._distributed import DistributedContext
from .._distributed._context import alone, group_of
from ..errors import DistributedError
from ._arbiter import Arbiter, Verdict
from ._failure import Failure


class Nodes:
    """This node's launcher among all launchers."""

    def __init__(self, together: DistributedContext) -> None:
        self._together = together
        self._arbiter: Arbiter | None = Arbiter(together.size) if together.rank == 0 else None
        self._failures: list[Failure] = []
        self._verdict: Verdict | None = None
        self._is_over = False
        self._is_done = False
        self._is_settled = False

    def failed(self, failure: Failure) -> None:
        """Reports that a rank of this node has failed."""
        if self._arbiter is None:
            self._failures.append(failure)
        self._tell("failed", failure)

    def ended_well(self, rank: int) -> None:
        """Reports that a rank of this node has exited with 0."""
        self._tell("ended_well", rank)

    def stalled(self, rank: int, text: str) -> None:
        """Reports that a rank of this node is stalled, or, with an empty text, that its stall is over."""
        self._tell("stalled", (rank, text))

    def done(self) -> None:
        """Reports that all ranks of this node have exited with 0."""
        if not self._is_done:
            self._is_done = True
            self._tell("done", self._together.rank)

    def settled(self) -> None:
        """Reports that all ranks of this node have ended."""
        if not self._is_settled:
            self._is_settled = True
            self._tell("settled", self._together.rank)

    def look(self) -> None:
        """Reads the reports of the other launchers."""
        try:
            for kind, value in group_of(self._together).take_notes():
                self._take(kind, value)
        except DistributedError as error:
            self._lose(str(error))
        if self._arbiter is None or self._verdict is not None or self._is_over:
            return
        self._verdict = self._arbiter.verdict(time.monotonic())
        self._is_over = self._verdict is None and self._arbiter.is_over()
        if self._together.rank == 0:
            if self._verdict is not None:
                self._note("verdict", self._verdict)
            elif self._is_over:
                self._note("over", None)

    @property
    def verdict(self) -> Verdict | None:
        """The reason why the run has failed; None while it is undecided."""
        return self._verdict

    @property
    def is_over(self) -> bool:
        """Whether all ranks of all nodes have exited with 0."""
        return self._is_over

    def close(self) -> None:
        """Closes the connections to the other launchers."""
        self._together.close()

    def _tell(self, kind: str, value: object) -> None:
        if self._arbiter is not None:
            self._take(kind, value)
        else:
            self._note(kind, value)

    def _take(self, kind: str, value: Any) -> None:
        arbiter = self._arbiter
        if kind == "verdict":
            self._verdict = value
        elif kind == "over":
            self._is_over = True
        elif arbiter is None:
            return
        elif kind == "failed":
            self._failures.append(value)
            arbiter.failed(value, time.monotonic())
        elif kind == "ended_well":
            arbiter.ended_well(value)
        elif kind == "stalled":
            arbiter.stalled(*value)
        elif kind == "done":
            arbiter.done(value)
        elif kind == "settled":
            arbiter.settled(value)

    def _note(self, kind: str, value: object) -> None:
        try:
            group_of(self._together).note((kind, value))
        except DistributedError as error:
            self._lose(str(error))

    def _lose(self, why: str) -> None:
        """Continues without the other launchers. Does nothing after the verdict or the end of all ranks."""
        if self._verdict is not None or self._is_over:
            return
        if self._is_done:
            self._is_over = True
            return
        node = self._together.rank
        self._arbiter = Arbiter(1)
        self._together.close()
        self._together = alone()
        for failure in self._failures:
            self._arbiter.failed(failure, time.monotonic())
        lost = Failure(-1, node, 1, f"another node of the run is gone ({_node(why)})", "", True)
        self._arbiter.failed(lost, time.monotonic())
        if self._is_settled:
            self._arbiter.settled(0)


def _node(why: str) -> str:
    """Replaces "rank" by "node": each launcher's rank among the launchers is its node."""
    return why.partition(":")[0].replace("rank ", "node ")
