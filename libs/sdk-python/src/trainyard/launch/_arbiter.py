"""Decides, for all nodes of a run, which rank's failure was the first.

A failure that only reports the loss of another process is not decided on at once: the lost process, perhaps on
another node, may still be reporting its error. A failure with a cause of its own is decided on at once. If no
process was lost, the verdict names first a rank that has reported a stall.
"""

from __future__ import annotations

from typing import NamedTuple

from .._limits import LAUNCH_SETTLE_S
from ._failure import Failure


class Verdict(NamedTuple):
    """The reason why the run has failed."""

    message: str
    """The message of the run's end record."""
    headline: str
    rank: int
    exit_code: int
    traceback: str


class Arbiter:
    """Collects the nodes' reports."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes
        self._failures: list[Failure] = []
        self._ended_well: list[int] = []
        self._done: set[int] = set()
        self._settled: set[int] = set()
        self._stalled: dict[int, str] = {}
        self._first_at: float | None = None

    def failed(self, failure: Failure, now: float) -> None:
        """Records a rank's failure."""
        self._failures.append(failure)
        if self._first_at is None:
            self._first_at = now

    def ended_well(self, rank: int) -> None:
        """Records that a rank has exited with 0."""
        self._ended_well.append(rank)

    def stalled(self, rank: int, text: str) -> None:
        """Records that a rank is stalled; an empty text ends the stall."""
        self._stalled[rank] = text

    def done(self, node: int) -> None:
        """Records that all ranks of a node have exited with 0."""
        self._done.add(node)

    def settled(self, node: int) -> None:
        """Records that all ranks of a node have ended, so that it sends no further reports."""
        self._settled.add(node)

    def is_over(self) -> bool:
        """Whether all ranks of all nodes have exited with 0."""
        return len(self._done) == self._nodes

    def verdict(self, now: float) -> Verdict | None:
        """The verdict, or None while it is undecided."""
        own = next((failure for failure in self._failures if not failure.follows), None)
        if own is not None:
            return _verdict(own, "")
        if self._first_at is None:
            return None
        if len(self._settled) < self._nodes and now - self._first_at < LAUNCH_SETTLE_S:
            return None
        return _verdict(self._failures[0], self._who_had_left() or self._who_stalled())

    def _who_had_left(self) -> str:
        if not self._ended_well:
            return ""
        ranks = ", ".join(str(rank) for rank in sorted(self._ended_well)[:8])
        many = "s" if len(self._ended_well) > 1 else ""
        return f"rank{many} {ranks} exited with code 0 while others were still at work; then "

    def _who_stalled(self) -> str:
        """A rank that does not answer may still run, busy with something else."""
        texts = [text for _, text in sorted(self._stalled.items()) if text]
        return f"{texts[0]}; then " if texts else ""


def _verdict(failure: Failure, before: str) -> Verdict:
    return Verdict(
        message=failure.message(before),
        headline=f"{before}{failure.headline()}",
        rank=failure.rank,
        exit_code=failure.exit_code(),
        traceback=failure.traceback,
    )
