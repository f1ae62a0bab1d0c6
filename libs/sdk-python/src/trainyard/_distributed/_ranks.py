"""The part of a DistributedContext that most of the SDK needs."""

from __future__ import annotations

from typing import Any, Protocol


class Ranks(Protocol):
    """The processes of a run, seen from one of them."""

    @property
    def rank(self) -> int:
        """This process's number, from 0."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """How many there are."""
        raise NotImplementedError

    def allgather(self, stuff: object) -> list[Any]:
        """Every rank's value, in the order of ranks, on every rank."""
        raise NotImplementedError


class RankGroup(Ranks, Protocol):
    """The same, with what one rank decides for all."""

    def gather(self, stuff: object) -> list[Any] | None:
        """Every rank's value on rank 0; None on the others, at once."""
        raise NotImplementedError

    def broadcast(self, stuff: object) -> Any:
        """Rank 0's value, on every rank."""
        raise NotImplementedError
