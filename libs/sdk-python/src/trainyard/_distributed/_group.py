"""The connections of one process to the other processes of its run."""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING, Any

from ..errors import DistributedError
from ._topology import Topology

if TYPE_CHECKING:
    from ._collectives import Collectives
    from ._rendezvous import Rendezvous


class Group:
    """One process's view of the run's processes. A process without connections is alone."""

    def __init__(
        self,
        topology: Topology,
        rendezvous: Rendezvous | None = None,
        collectives: Collectives | None = None,
        local_collectives: Collectives | None = None,
    ) -> None:
        self.topology = topology
        self._rendezvous = rendezvous
        self._collectives = collectives
        self._local_collectives = local_collectives
        self._lock = threading.RLock()
        self._closed = False
        self._branches = 0
        if collectives is not None:
            _connected.add(self)

    @property
    def rank(self) -> int:
        """This process's number, from 0."""
        return self.topology.rank

    @property
    def size(self) -> int:
        """The number of processes."""
        return self.topology.size

    def gather(self, stuff: object) -> list[Any] | None:
        """Returns the values of all ranks on the chief; returns None on the others, at once."""
        with self._lock:
            return self._gather(self._collectives, stuff)

    def gather_local(self, stuff: object) -> list[Any] | None:
        """Returns the values of a host's processes on its first process; None on the others."""
        with self._lock:
            return self._gather(self._local_collectives, stuff)

    def allgather(self, stuff: object) -> list[Any]:
        """Returns the values of all ranks on every rank."""
        with self._lock:
            return self._broadcast(
                self._collectives, self._gather(self._collectives, stuff, awaited=True)
            )

    def allgather_local(self, stuff: object) -> list[Any]:
        """Returns the values of a host's processes on each of them."""
        with self._lock:
            everyones = self._gather(self._local_collectives, stuff, awaited=True)
            return self._broadcast(self._local_collectives, everyones)

    def broadcast(self, stuff: object) -> Any:
        """Returns the chief's value on every rank. The chief does not wait for the others."""
        with self._lock:
            return self._broadcast(self._collectives, stuff)

    def broadcast_local(self, stuff: object) -> Any:
        """Returns the value of a host's first process on all processes of the host."""
        with self._lock:
            return self._broadcast(self._local_collectives, stuff)

    def branch(self) -> Group:
        """Creates another group of the same processes, for a second thread; all ranks must call it at the same
        point.
        """
        if self.topology.size == 1:
            return Group(self.topology)
        from ._join import join_again

        with self._lock:
            self._check_open()
            assert self._collectives is not None and self._rendezvous is not None
            self._branches += 1
            name = f"{self._rendezvous.name}+{self._branches}"
            rendezvous = self._rendezvous._replace(name=name, port_file=None)
            return Group(
                self.topology,
                None,
                *join_again(self.topology, rendezvous, self._collectives.broadcast),
            )

    def note(self, value: object) -> None:
        """Sends a value to the chief, or from the chief to all, out of the order of calls and without waiting."""
        with self._lock:
            if self._collectives is not None:
                self._collectives.note(value)

    def take_notes(self) -> list[Any]:
        """Returns and removes the notes that have arrived."""
        with self._lock:
            if self._collectives is None:
                return []
            self._collectives.look()
            notes, self._collectives.notes = self._collectives.notes, []
            return notes

    def close(self) -> None:
        """Leaves the group; a later call of any other method raises. A second close does nothing."""
        self._closed = True
        members = [
            each for each in (self._local_collectives, self._collectives) if each is not None
        ]
        # A thread that still waits for other ranks holds the lock.
        if not self._lock.acquire(timeout=1.0):
            for each in members:
                each.abort()
            self._lock.acquire()
        try:
            for each in members:
                each.close()
        finally:
            self._lock.release()

    def drop_in_child(self) -> None:
        """Closes the connections in a forked child, without notifying the other ranks."""
        self._lock = threading.RLock()
        for each in (self._local_collectives, self._collectives):
            if each is not None:
                each.drop()

    def _gather(
        self, collectives: Collectives | None, stuff: object, awaited: bool = False
    ) -> list[Any] | None:
        self._check_open()
        return [stuff] if collectives is None else collectives.gather(stuff, awaited)

    def _broadcast(self, collectives: Collectives | None, stuff: object) -> Any:
        self._check_open()
        return stuff if collectives is None else collectives.broadcast(stuff)

    def _check_open(self) -> None:
        if self._closed:
            raise DistributedError("the context is closed: use ctx.distributed inside the block")


_connected: weakref.WeakSet[Group] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    # If a forked child kept the connections, the other ranks would not notice its parent's end.
    for group in list(_connected):
        group.drop_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
