"""The part of DistributedContext that most modules of the SDK need."""

from __future__ import annotations

from typing import Any, Protocol


class Ranks(Protocol):
    """The processes of a run as seen from one of them."""

    @property
    def rank(self) -> int:
        """This process's number, from 0."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """The number of processes."""
        raise NotImplementedError

    def allgather(self, stuff: object) -> list[Any]:
        """Returns the values of all ranks, in their order, on every rank."""
        raise NotImplementedError


class RankGroup(Ranks, Protocol):
    """Ranks that can also gather to and broadcast from rank 0."""

    def gather(self, stuff: object) -> list[Any] | None:
        """Returns the values of all ranks on rank 0; returns None on the others, at once."""
        raise NotImplementedError

    def broadcast(self, stuff: object) -> Any:
        """Returns rank 0's value on every rank."""
        raise NotImplementedError
