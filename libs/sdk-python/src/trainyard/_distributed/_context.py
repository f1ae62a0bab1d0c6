"""What the processes of one run tell each other, before and beside torch.distributed.

The processes form a star around the chief, rank 0, over TCP (_join.py, _star.py, _wire.py), and those
of one host another around its first. It is meant for what a training script coordinates (an answer, a
path, a count), not for tensors: everything passes through the chief.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import DistributedError
from ._place import Place, check

if TYPE_CHECKING:
    from ._meeting import Meeting
    from ._star import Star


class DistributedContext:
    """The processes that train one trial together.

    ``rank`` of ``size`` in the run, ``local_rank`` of ``local_size`` on this host, and this host is
    ``cross_rank`` of ``cross_size``. Every rank makes the same calls in the same order. A call waits for
    as long as the others take; when one of them has ended it raises DistributedError on all.

    The chief is found at ``chief_addr``, or ``chief_ip`` by Determined's name (else ``MASTER_ADDR``), and
    ``chief_port``. On one host the port may be left out where ``MASTER_PORT`` tells runs apart; on several
    it is two above the task's rendezvous port unless given. May be used from several threads if those
    agree on the order of calls over all ranks.
    """

    def __init__(
        self,
        *,
        rank: int,
        size: int,
        local_rank: int,
        local_size: int,
        cross_rank: int,
        cross_size: int,
        chief_addr: str | None = None,
        chief_port: int | None = None,
        chief_ip: str | None = None,
    ) -> None:
        chief_addr = chief_addr or chief_ip
        self._place = Place(rank, size, local_rank, local_size, cross_rank, cross_size)
        check(self._place)
        self._lock = threading.RLock()
        self._star: Star | None = None
        self._local_star: Star | None = None
        self._closed = False
        self._meeting: Meeting | None = None
        self._branches = 0
        if size > 1:
            # Loaded here: a process that is alone needs none of it.
            from ._join import join
            from ._meeting import meeting_of

            self._meeting = meeting_of(os.environ, cross_size, chief_addr, chief_port)
            self._star, self._local_star = join(self._place, self._meeting)
            _living.add(self)

    @classmethod
    def from_torch_distributed(
        cls, chief_addr: str | None = None, chief_port: int | None = None
    ) -> DistributedContext:
        """The context of a process that ``torchrun`` or ``python -m trainyard.launch.torch`` started.

        Reads RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK and GROUP_WORLD_SIZE; torch
        itself is not needed, nor has its process group to exist.
        """
        env = os.environ
        local_size = _whole(env, "LOCAL_WORLD_SIZE")
        size = _whole(env, "WORLD_SIZE")
        hosts = env.get("GROUP_WORLD_SIZE") and _whole(env, "GROUP_WORLD_SIZE")
        return cls(
            rank=_whole(env, "RANK"),
            size=size,
            local_rank=_whole(env, "LOCAL_RANK"),
            local_size=local_size,
            cross_rank=_whole(env, "GROUP_RANK"),
            cross_size=hosts or max(1, size // local_size),
            chief_addr=chief_addr,
            chief_port=chief_port,
        )

    @property
    def rank(self) -> int:
        """This process's number in the run, from 0. Rank 0 is the chief."""
        return self._place.rank

    @property
    def size(self) -> int:
        """How many processes the run has."""
        return self._place.size

    @property
    def local_rank(self) -> int:
        """This process's number on its host, from 0."""
        return self._place.local_rank

    @property
    def local_size(self) -> int:
        """How many processes of the run this host has."""
        return self._place.local_size

    @property
    def cross_rank(self) -> int:
        """This host's number, from 0."""
        return self._place.cross_rank

    @property
    def cross_size(self) -> int:
        """How many hosts the run has."""
        return self._place.cross_size

    def get_rank(self) -> int:
        """``rank``, by the name that scripts for Determined use."""
        return self.rank

    def get_size(self) -> int:
        """``size``, by the name that scripts for Determined use."""
        return self.size

    def get_local_rank(self) -> int:
        """``local_rank``, by the name that scripts for Determined use."""
        return self.local_rank

    def get_local_size(self) -> int:
        """``local_size``, by the name that scripts for Determined use."""
        return self.local_size

    def get_cross_rank(self) -> int:
        """``cross_rank``, by the name that scripts for Determined use."""
        return self.cross_rank

    def get_cross_size(self) -> int:
        """``cross_size``, by the name that scripts for Determined use."""
        return self.cross_size

    @property
    def is_chief(self) -> bool:
        """Whether this is rank 0."""
        return self.rank == 0

    @property
    def is_local_chief(self) -> bool:
        """Whether this is its host's first process."""
        return self.local_rank == 0

    def gather(self, stuff: Any) -> list[Any] | None:
        """On the chief every rank's value, in the order of ranks; None on the others, at once.

        Values are pickled on the way.
        """
        with self._lock:
            return self._gather(self._star, stuff)

    def gather_local(self, stuff: Any) -> list[Any] | None:
        """The same among the processes of a host, on its first one."""
        with self._lock:
            return self._gather(self._local_star, stuff)

    def allgather(self, stuff: Any) -> list[Any]:
        """Every rank's value, in the order of ranks, on every rank."""
        with self._lock:
            return self._broadcast(self._star, self._gather(self._star, stuff, awaited=True))

    def allgather_local(self, stuff: Any) -> list[Any]:
        """The same among the processes of a host."""
        with self._lock:
            everyones = self._gather(self._local_star, stuff, awaited=True)
            return self._broadcast(self._local_star, everyones)

    def broadcast(self, stuff: Any) -> Any:
        """The chief's value, on every rank. The chief does not wait for the others."""
        with self._lock:
            return self._broadcast(self._star, stuff)

    def broadcast_local(self, stuff: Any = None) -> Any:
        """The value of a host's first process, on all of that host's."""
        with self._lock:
            return self._broadcast(self._local_star, stuff)

    def barrier(self) -> None:
        """Returns once every rank has called it."""
        self.allgather(None)

    def close(self) -> None:
        """Leaves the group; a later call of anything else raises. A second close does nothing."""
        self._closed = True
        stars = [star for star in (self._local_star, self._star) if star is not None]
        # A thread that still waits for the others holds the lock.
        if not self._lock.acquire(timeout=1.0):
            for star in stars:
                star.abort()
            self._lock.acquire()
        try:
            for star in stars:
                star.close()
        finally:
            self._lock.release()

    def _new_branch(self) -> DistributedContext:
        """Another context of the same processes, for a thread of each; every rank calls it at once."""
        branch = alone()
        branch._place = self._place
        if self.size == 1:
            return branch
        from ._join import join_again

        with self._lock:
            self._check_open()
            assert self._star is not None and self._meeting is not None
            self._branches += 1
            name = f"{self._meeting.name}+{self._branches}"
            meeting = self._meeting._replace(name=name, port_file=None)
            branch._star, branch._local_star = join_again(
                self._place, meeting, self._star.broadcast
            )
        _living.add(branch)
        return branch

    def _note(self, value: Any) -> None:
        """Tells the chief something out of the order of calls, or as the chief all; nobody waits."""
        with self._lock:
            if self._star is not None:
                self._star.note(value)

    def _take_notes(self) -> list[Any]:
        """What has been noted here since this was asked last."""
        with self._lock:
            if self._star is None:
                return []
            self._star.look()
            notes, self._star.notes = self._star.notes, []
            return notes

    def _gather(self, star: Star | None, stuff: Any, awaited: bool = False) -> list[Any] | None:
        self._check_open()
        return [stuff] if star is None else star.gather(stuff, awaited)

    def _broadcast(self, star: Star | None, stuff: Any) -> Any:
        self._check_open()
        return stuff if star is None else star.broadcast(stuff)

    def _check_open(self) -> None:
        if self._closed:
            raise DistributedError("the context is closed: use ctx.distributed inside the block")

    def _drop_in_child(self) -> None:
        self._lock = threading.RLock()
        for star in (self._local_star, self._star):
            if star is not None:
                star.drop()


def alone() -> DistributedContext:
    """The context of a run of one process."""
    return DistributedContext(
        rank=0, size=1, local_rank=0, local_size=1, cross_rank=0, cross_size=1
    )


def _whole(env: Mapping[str, str], name: str) -> int:
    text = env.get(name)
    try:
        return int(text or "")
    except ValueError:
        raise DistributedError(
            f"from_torch_distributed needs {name} in the environment, and finds {text!r}: start the "
            "script with torchrun or python -m trainyard.launch.torch"
        ) from None


_living: weakref.WeakSet[DistributedContext] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    # A child that kept the connections would keep the others from noticing its parent's end.
    for context in list(_living):
        context._drop_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
