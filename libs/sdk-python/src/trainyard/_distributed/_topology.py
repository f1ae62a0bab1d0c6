"""The position of a process among the processes of its run."""

from __future__ import annotations

from typing import NamedTuple


class Topology(NamedTuple):
    """The numbers of a process and its host, with the counts of both."""

    rank: int
    size: int
    local_rank: int
    local_size: int
    cross_rank: int
    cross_size: int


def check(topology: Topology) -> None:
    """Raises TypeError or ValueError for an impossible topology."""
    for name, rank, count in (
        ("rank", topology.rank, topology.size),
        ("local_rank", topology.local_rank, topology.local_size),
        ("cross_rank", topology.cross_rank, topology.cross_size),
    ):
        of = name.replace("rank", "size")
        for value in (rank, count):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"DistributedContext needs whole numbers for {name}= and {of}=")
        if not 0 <= rank < count:
            raise ValueError(
                f"DistributedContext needs {name}= from 0 to {of}= - 1, not {rank} of {count}"
            )
    if topology.size < max(topology.local_size, topology.cross_size):
        raise ValueError(
            f"DistributedContext cannot have {topology.local_size} processes on one of "
            f"{topology.cross_size} hosts and {topology.size} in all: correct size= or local_size="
        )
