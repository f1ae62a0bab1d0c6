"""A group of processes in the shape of a star: its first member, the hub, has a link to each other member. All
members make every call in the same order. Each frame has the kind and number of its call, so that members that
call in different orders fail instead of mixing up values.

When a member is lost, the hub sends the others the reason before it raises, so that no member waits forever. After
a failure every later call fails for the same reason.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
from collections.abc import Container, Iterator
from typing import Any, NoReturn

from ..errors import DistributedError
from ._wire import Frame, Link, LostError, encode

_GATHER = "gather"
_BROADCAST = "broadcast"
_FAILED = "failed"
# A frame outside of the order of calls, from a member to the hub or from the hub to all.
NOTE = "note"


class Collectives:
    """``links`` has a link for each member, from 1, at the hub, and only the hub's link at the others. ``names``
    has each member's rank in the run.
    """

    def __init__(self, me: int, names: list[int], links: dict[int, Link]) -> None:
        self._me = me
        self._names = names
        self._links = links
        self._number = 0
        self._failure: str | None = None
        self.notes: list[Any] = []
        self._selector = selectors.DefaultSelector()
        for member, link in links.items():
            self._selector.register(link.sock, selectors.EVENT_READ, member)

    def gather(self, value: object, awaited: bool = False) -> list[Any] | None:
        """Returns the values of all members, in their order, at the hub; returns None at the others, at once.

        A member may leave after its value has arrived, unless it waits for a result (``awaited``).
        """
        number = self._begin()
        if self._me != 0:
            self._send(0, encode(_GATHER, number, value))
            return None
        values: dict[int, Any] = {0: value}
        for member in self._links:
            heard = () if awaited else tuple(values)
            values[member] = self._frame_of(member, _GATHER, number, heard).value
        return [values[member] for member in range(len(self._names))]

    def broadcast(self, value: object) -> Any:
        """Returns the hub's value on every member."""
        number = self._begin()
        if self._me != 0:
            return self._frame_of(0, _BROADCAST, number).value
        frame = encode(_BROADCAST, number, value)
        for member in self._links:
            self._send(member, frame)
        return value

    def note(self, value: object) -> None:
        """Sends a value to the hub's ``notes``, or from the hub to the ``notes`` of all, out of order."""
        self._check()
        frame = encode(NOTE, 0, value)
        for member in self._links:
            self._send(member, frame)

    def look(self) -> None:
        """Reads the frames that have arrived, without waiting, to update ``notes``."""
        self._check()
        for member in self._ready(0):
            self._read(member, socket.MSG_DONTWAIT)
            with self._losing(member):
                frame = self._links[member].take()
                while frame is not None and frame.kind == NOTE:
                    self.notes.append(frame.value)
                    frame = self._links[member].take()
                if frame is not None and frame.kind == _FAILED:
                    self._fail(str(frame.value))
                if frame is not None:
                    self._links[member].put_back(frame)

    def close(self) -> None:
        """Closes the links of the group."""
        if self._failure is None:
            self._failure = "the context is closed"
        self._selector.close()
        for link in self._links.values():
            link.close()
        self._links = {}

    def abort(self) -> None:
        """Interrupts a call that another thread is waiting in."""
        for link in self._links.values():
            with contextlib.suppress(OSError):
                link.sock.shutdown(socket.SHUT_RDWR)

    def drop(self) -> None:
        """Closes the parent's connections in a forked child, without notifying the other members."""
        self._failure = "a forked process is not a member of the run: use the context in its parent"
        self._selector.close()
        for link in self._links.values():
            link.sock.close()
        self._links = {}

    def _begin(self) -> int:
        self._check()
        self._number += 1
        return self._number

    def _check(self) -> None:
        if self._failure is not None:
            raise DistributedError(self._failure)

    def _send(self, member: int, frame: bytes) -> None:
        with self._losing(member):
            self._links[member].send(frame)

    def _frame_of(self, member: int, kind: str, number: int, free: Container[int] = ()) -> Frame:
        """Waits for a member's frame of this call. Raises if a member is lost meanwhile, except those in ``free``."""
        while True:
            with self._losing(member):
                frame = self._links[member].take()
            if frame is None:
                for ready in self._ready(None):
                    self._read(ready)
                    if ready not in free:
                        self._look_for_loss(ready)
            elif frame.kind == NOTE:
                self.notes.append(frame.value)
            elif frame.kind == _FAILED:
                self._fail(str(frame.value))
            elif (frame.kind, frame.number) == (kind, number):
                return frame
            else:
                here, there = self._names[self._me], self._names[member]
                self._fail(
                    f"rank {there} made call {frame.number} of ctx.distributed, a {frame.kind}, where "
                    f"rank {here} made call {number}, a {kind}: make the same calls on every rank"
                )

    def _look_for_loss(self, member: int) -> None:
        """Raises LostError if a member has ended and all its frames have been read."""
        with self._losing(member):
            frame = self._links[member].take()
        if frame is not None:
            self._links[member].put_back(frame)

    def _read(self, member: int, flags: int = 0) -> None:
        link = self._links[member]
        link.read(flags)
        if link.over:
            # An ended connection would be reported as readable forever.
            self._selector.unregister(link.sock)

    def _ready(self, timeout: float | None) -> list[int]:
        return [key.data for key, _ in self._selector.select(timeout)]

    @contextlib.contextmanager
    def _losing(self, member: int) -> Iterator[None]:
        try:
            yield
        except LostError as error:
            self._fail(
                f"rank {self._names[member]} has ended or left the context ({error}): "
                "see that rank's own output for why"
            )

    def _fail(self, why: str) -> NoReturn:
        if self._failure is None:
            self._failure = why
            if self._me == 0:
                frame = encode(_FAILED, 0, why)
                for link in self._links.values():
                    with contextlib.suppress(LostError):
                        link.send(frame)
        raise DistributedError(self._failure) from None
