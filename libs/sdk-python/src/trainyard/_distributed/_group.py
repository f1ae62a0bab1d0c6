"""The connections of one process to the others of its run, and what is said over them."""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING, Any

from ..errors import DistributedError
from ._place import Place

if TYPE_CHECKING:
    from ._meeting import Meeting
    from ._star import Star


class Group:
    """A process among the others. Without connections it is alone."""

    def __init__(
        self,
        place: Place,
        meeting: Meeting | None = None,
        star: Star | None = None,
        local_star: Star | None = None,
    ) -> None:
        self.place = place
        self._meeting = meeting
        self._star = star
        self._local_star = local_star
        self._lock = threading.RLock()
        self._closed = False
        self._branches = 0
        if star is not None:
            _connected.add(self)

    @property
    def rank(self) -> int:
        """This process's number, from 0."""
        return self.place.rank

    @property
    def size(self) -> int:
        """How many processes there are."""
        return self.place.size

    def gather(self, stuff: Any) -> list[Any] | None:
        """On the chief every rank's value; None on the others, at once."""
        with self._lock:
            return self._gather(self._star, stuff)

    def gather_local(self, stuff: Any) -> list[Any] | None:
        """The same among the processes of a host, on its first one."""
        with self._lock:
            return self._gather(self._local_star, stuff)

    def allgather(self, stuff: Any) -> list[Any]:
        """Every rank's value, on every rank."""
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

    def broadcast_local(self, stuff: Any) -> Any:
        """The value of a host's first process, on all of that host's."""
        with self._lock:
            return self._broadcast(self._local_star, stuff)

    def branch(self) -> Group:
        """Another group of the same processes, for a thread of each; every rank calls it at once."""
        if self.place.size == 1:
            return Group(self.place)
        from ._join import join_again

        with self._lock:
            self._check_open()
            assert self._star is not None and self._meeting is not None
            self._branches += 1
            name = f"{self._meeting.name}+{self._branches}"
            meeting = self._meeting._replace(name=name, port_file=None)
            return Group(self.place, None, *join_again(self.place, meeting, self._star.broadcast))

    def note(self, value: Any) -> None:
        """Sends the chief something out of the order of calls, or as the chief all; nobody waits."""
        with self._lock:
            if self._star is not None:
                self._star.note(value)

    def take_notes(self) -> list[Any]:
        """What has been noted here since this was asked last."""
        with self._lock:
            if self._star is None:
                return []
            self._star.look()
            notes, self._star.notes = self._star.notes, []
            return notes

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

    def drop_in_child(self) -> None:
        """Gives up the connections in a forked child, without a word to the others."""
        self._lock = threading.RLock()
        for star in (self._local_star, self._star):
            if star is not None:
                star.drop()

    def _gather(self, star: Star | None, stuff: Any, awaited: bool = False) -> list[Any] | None:
        self._check_open()
        return [stuff] if star is None else star.gather(stuff, awaited)

    def _broadcast(self, star: Star | None, stuff: Any) -> Any:
        self._check_open()
        return stuff if star is None else star.broadcast(stuff)

    def _check_open(self) -> None:
        if self._closed:
            raise DistributedError("the context is closed: use ctx.distributed inside the block")


_connected: weakref.WeakSet[Group] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    # A child that kept the connections would keep the others from noticing its parent's end.
    for group in list(_connected):
        group.drop_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
