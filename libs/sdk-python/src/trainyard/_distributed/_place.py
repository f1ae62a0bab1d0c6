"""Where a process stands among those of its run."""

from __future__ import annotations

from typing import NamedTuple


class Place(NamedTuple):
    """A process's place among the others."""

    rank: int
    size: int
    local_rank: int
    local_size: int
    cross_rank: int
    cross_size: int


def check(place: Place) -> None:
    """Raises TypeError or ValueError for a place that cannot be."""
    for name, rank, count in (
        ("rank", place.rank, place.size),
        ("local_rank", place.local_rank, place.local_size),
        ("cross_rank", place.cross_rank, place.cross_size),
    ):
        of = name.replace("rank", "size")
        for value in (rank, count):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"DistributedContext needs whole numbers for {name}= and {of}=")
        if not 0 <= rank < count:
            raise ValueError(
                f"DistributedContext needs {name}= from 0 to {of}= - 1, not {rank} of {count}"
            )
    if place.size < max(place.local_size, place.cross_size):
        raise ValueError(
            f"DistributedContext cannot have {place.local_size} processes on one of "
            f"{place.cross_size} hosts and {place.size} in all: mend size= or local_size="
        )
