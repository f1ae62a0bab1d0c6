"""How the processes of a run come together: everyone goes to the chief, and on each further host the
workers go to that host's first process.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterable
from typing import Any, Callable, NamedTuple

from .._limits import CONNECT_BACKOFF_S, HANDSHAKE_S, JOIN_S
from ..errors import DistributedError
from ._meeting import Meeting
from ._place import Place
from ._star import Star
from ._wire import Link, LostError, encode, greet

_HELLO = "hello"
_WELCOME = "welcome"
_REFUSED = "refused"


class Guest(NamedTuple):
    """Who came, and on which port it takes in the others of its host."""

    place: Place
    port: int


def join(
    place: Place, meeting: Meeting, listener: socket.socket | None = None
) -> tuple[Star, Star]:
    """The star of all processes, and the one of this host's. Waits for all to come. Raises
    DistributedError when somebody does not, or does not fit. The chief may give a listener of its own.
    """
    if place.cross_size == 1:
        star, _ = _join_all(place, meeting, 0, listener)
        return star, star
    name = f"{meeting.name}/{place.cross_rank}"
    local = meeting._replace(name=name, host="127.0.0.1", port_file=None)
    if place.local_rank == 0:
        with _listen("127.0.0.1", 0) as locals_:
            star, _ = _join_all(place, meeting, locals_.getsockname()[1], listener)
            links, guests = _host(
                place, locals_, local, lambda theirs: theirs.local_rank, place.local_size
            )
        names = [place.rank, *(guests[member].place.rank for member in sorted(guests))]
        _tell(links.values(), encode(_WELCOME, 0, names))
        return star, Star(0, names, links)
    star, ports = _join_all(place, meeting, 0)
    link, names = _visit(place, local._replace(port=ports[place.cross_rank]), 0)
    return star, Star(place.local_rank, names, {0: link})


def join_again(
    place: Place, meeting: Meeting, broadcast: Callable[[Any], Any]
) -> tuple[Star, Star]:
    """The same for processes that know each other already, on a port of the system's choosing, which
    the chief tells by ``broadcast``.
    """
    if place.rank != 0:
        return join(place, meeting._replace(port=broadcast(None)))
    is_here = place.cross_size == 1
    with _listen("127.0.0.1" if is_here else "", 0) as listener:
        broadcast(listener.getsockname()[1])
        return join(place, meeting, listener)


def _join_all(
    place: Place, meeting: Meeting, local_port: int, listener: socket.socket | None = None
) -> tuple[Star, dict[int, int]]:
    """The star of all, and where each host's first process takes in the others of its host."""
    names = list(range(place.size))
    if place.rank != 0:
        link, ports = _visit(place, meeting, local_port)
        return Star(place.rank, names, {0: link}), ports
    with listener or _listen(meeting.listens_on(), meeting.port) as listener:
        meeting.publish(listener.getsockname()[1])
        try:
            links, guests = _host(place, listener, meeting, lambda theirs: theirs.rank, place.size)
        finally:
            meeting.retract()
    hosts = {place.cross_rank: local_port} if place.local_rank == 0 else {}
    for theirs, port in guests.values():
        if theirs.local_rank == 0:
            hosts[theirs.cross_rank] = port
    _tell(links.values(), encode(_WELCOME, 0, hosts))
    return Star(0, names, links), hosts


def _listen(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(socket.SOMAXCONN)
    except OSError as error:
        listener.close()
        raise DistributedError(
            f"the chief cannot listen on port {port} ({error.strerror}): pass a free chief_port="
        ) from None
    return listener


def _host(
    place: Place, listener: socket.socket, meeting: Meeting, key: Callable[[Place], int], size: int
) -> tuple[dict[int, Link], dict[int, Guest]]:
    """Takes in ``size - 1`` others, each under its ``key``."""
    links: dict[int, Link] = {}
    guests: dict[int, Guest] = {}
    came_in: list[Link] = []
    deadline = time.monotonic() + JOIN_S
    try:
        while len(links) < size - 1:
            missing = sorted(set(range(size)) - {0, *links})
            came = _accept(listener, meeting, deadline, missing)
            if came is None:
                continue
            link, guest = came
            came_in.append(link)
            member = key(guest.place)
            before = links.pop(member, None)
            links[member], guests[member] = link, guest
            _check_same(place, guest.place)
            # One whose connection broke may have come again.
            if member == 0 or (before is not None and not before.is_over()):
                raise _twice(guest.place)
    except DistributedError as error:
        _tell(came_in, encode(_REFUSED, 0, str(error)))
        for link in came_in:
            link.close()
        raise
    return links, guests


def _tell(links: Iterable[Link], frame: bytes) -> None:
    for link in links:
        # Whoever is gone already is noticed by the first call.
        with contextlib.suppress(LostError):
            link.send(frame)


def _check_same(mine: Place, theirs: Place) -> None:
    if (theirs.size, theirs.cross_size) != (mine.size, mine.cross_size):
        raise DistributedError(
            f"rank {theirs.rank} says that {theirs.size} processes on {theirs.cross_size} hosts take "
            f"part and rank {mine.rank} says {mine.size} on {mine.cross_size}: "
            "give DistributedContext the same size= and cross_size= on every rank"
        )


def _twice(theirs: Place) -> DistributedError:
    return DistributedError(
        f"two processes joined as rank {theirs.rank}, local rank {theirs.local_rank} of host "
        f"{theirs.cross_rank}: give DistributedContext a rank= and a local_rank= of its own on each"
    )


def _accept(
    listener: socket.socket, meeting: Meeting, deadline: float, missing: list[int]
) -> tuple[Link, Guest] | None:
    """The next one to come; None for a stranger."""
    try:
        listener.settimeout(max(0.0, deadline - time.monotonic()))
        sock, _ = listener.accept()
    except (socket.timeout, BlockingIOError):
        raise DistributedError(
            f"{_ranks(missing)} did not join DistributedContext within {JOIN_S:.0f} s: "
            "create it on every rank, and see that rank's own output for why it did not"
        ) from None
    try:
        link = greet(sock, meeting.secret, meeting.name, is_host=True)
        link.sock.settimeout(HANDSHAKE_S)
        frame = link.receive()
    except LostError:
        return None
    link.sock.settimeout(None)
    place, port = frame.value
    return link, Guest(Place(*place), port)


def _ranks(missing: list[int]) -> str:
    shown = ", ".join(str(rank) for rank in missing[:8]) + (", …" if len(missing) > 8 else "")
    return f"rank{'s' if len(missing) > 1 else ''} {shown}"


def _visit(place: Place, meeting: Meeting, local_port: int) -> tuple[Link, Any]:
    """Goes to the chief as often as it takes until that listens and is the right one, and returns what
    it says once all are there.
    """
    deadline = time.monotonic() + JOIN_S
    while True:
        try:
            link = greet(_connect(meeting), meeting.secret, meeting.name, is_host=False)
            link.send(encode(_HELLO, 0, (tuple(place), local_port)))
            return link, _welcome(link)
        except (OSError, LostError) as error:
            if time.monotonic() >= deadline:
                raise DistributedError(
                    f"rank {place.rank} could not join the chief at {meeting.host}:"
                    f"{meeting.known_port() or '?'} within {JOIN_S:.0f} s ({error}): "
                    "see rank 0's own output, and whether that host can be reached"
                ) from None
        time.sleep(CONNECT_BACKOFF_S)


def _connect(meeting: Meeting) -> socket.socket:
    port = meeting.known_port()
    if port is None:
        raise ConnectionRefusedError("it does not listen yet")
    sock = socket.create_connection((meeting.host, port), HANDSHAKE_S)
    if sock.getsockname() == sock.getpeername():
        # A port of the system's choosing may be the very one that is called: then this is no peer.
        sock.close()
        raise ConnectionRefusedError("nobody listens")
    return sock


def _welcome(link: Link) -> Any:
    frame = link.receive()
    if frame.kind == _REFUSED:
        raise DistributedError(str(frame.value))
    return frame.value
