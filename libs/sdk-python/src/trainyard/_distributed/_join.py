"""Connects the processes of a run: all connect to the chief, and on each further host the workers connect to the
host's first process.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterable
from typing import Any, Callable, NamedTuple

from .._limits import CONNECT_BACKOFF_S, HANDSHAKE_S, JOIN_S
from ..errors import DistributedError
from ._collectives import Collectives
from ._rendezvous import Rendezvous
from ._topology import Topology
from ._wire import Link, LostError, encode, greet

_HELLO = "hello"
_WELCOME = "welcome"
_REFUSED = "refused"


class Guest(NamedTuple):
    """A process that joined, and the port on which it accepts the workers of its host."""

    topology: Topology
    port: int


def join(
    topology: Topology, rendezvous: Rendezvous, listener: socket.socket | None = None
) -> tuple[Collectives, Collectives]:
    """Returns the star of all processes, and the star of this host's. Waits until all have joined. Raises
    DistributedError if a process is missing or does not fit. The chief may pass a listener.
    """
    if topology.cross_size == 1:
        everyone, _ = _join_all(topology, rendezvous, 0, listener)
        return everyone, everyone
    name = f"{rendezvous.name}/{topology.cross_rank}"
    local = rendezvous._replace(name=name, host="127.0.0.1", port_file=None)
    if topology.local_rank == 0:
        with _listen("127.0.0.1", 0) as locals_:
            everyone, _ = _join_all(topology, rendezvous, locals_.getsockname()[1], listener)
            links, guests = _host(
                topology, locals_, local, lambda theirs: theirs.local_rank, topology.local_size
            )
        names = [topology.rank, *(guests[member].topology.rank for member in sorted(guests))]
        _tell(links.values(), encode(_WELCOME, 0, names))
        return everyone, Collectives(0, names, links)
    everyone, ports = _join_all(topology, rendezvous, 0)
    link, names = _visit(topology, local._replace(port=ports[topology.cross_rank]), 0)
    return everyone, Collectives(topology.local_rank, names, {0: link})


def join_again(
    topology: Topology, rendezvous: Rendezvous, broadcast: Callable[[Any], Any]
) -> tuple[Collectives, Collectives]:
    """Connects processes that have joined already, on a free port that the chief sends by ``broadcast``."""
    if topology.rank != 0:
        return join(topology, rendezvous._replace(port=broadcast(None)))
    is_here = topology.cross_size == 1
    with _listen("127.0.0.1" if is_here else "", 0) as listener:
        broadcast(listener.getsockname()[1])
        return join(topology, rendezvous, listener)


def _join_all(
    topology: Topology,
    rendezvous: Rendezvous,
    local_port: int,
    listener: socket.socket | None = None,
) -> tuple[Collectives, dict[int, int]]:
    """Returns the star of all processes, and the port of each host's first process."""
    names = list(range(topology.size))
    if topology.rank != 0:
        link, ports = _visit(topology, rendezvous, local_port)
        return Collectives(topology.rank, names, {0: link}), ports
    with listener or _listen(rendezvous.listens_on(), rendezvous.port) as listener:
        rendezvous.publish(listener.getsockname()[1])
        try:
            links, guests = _host(
                topology, listener, rendezvous, lambda guest: guest.rank, topology.size
            )
        finally:
            rendezvous.retract()
    hosts = {topology.cross_rank: local_port} if topology.local_rank == 0 else {}
    for guest, port in guests.values():
        if guest.local_rank == 0:
            hosts[guest.cross_rank] = port
    _tell(links.values(), encode(_WELCOME, 0, hosts))
    return Collectives(0, names, links), hosts


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
    topology: Topology,
    listener: socket.socket,
    rendezvous: Rendezvous,
    key: Callable[[Topology], int],
    size: int,
) -> tuple[dict[int, Link], dict[int, Guest]]:
    """Accepts ``size - 1`` processes, each under its ``key``."""
    links: dict[int, Link] = {}
    guests: dict[int, Guest] = {}
    came_in: list[Link] = []
    deadline = time.monotonic() + JOIN_S
    try:
        while len(links) < size - 1:
            missing = sorted(set(range(size)) - {0, *links})
            came = _accept(listener, rendezvous, deadline, missing)
            if came is None:
                continue
            link, guest = came
            came_in.append(link)
            member = key(guest.topology)
            before = links.pop(member, None)
            links[member], guests[member] = link, guest
            _check_same(topology, guest.topology)
            # A process whose connection broke may connect again.
            if member == 0 or (before is not None and not before.is_over()):
                raise _twice(guest.topology)
    except DistributedError as error:
        _tell(came_in, encode(_REFUSED, 0, str(error)))
        for link in came_in:
            link.close()
        raise
    return links, guests


def _tell(links: Iterable[Link], frame: bytes) -> None:
    for link in links:
        # The first collective call notices a process that has ended.
        with contextlib.suppress(LostError):
            link.send(frame)


def _check_same(host: Topology, guest: Topology) -> None:
    if (guest.size, guest.cross_size) != (host.size, host.cross_size):
        raise DistributedError(
            f"rank {guest.rank} says that {guest.size} processes on {guest.cross_size} hosts take "
            f"part and rank {host.rank} says {host.size} on {host.cross_size}: "
            "give DistributedContext the same size= and cross_size= on every rank"
        )


def _twice(guest: Topology) -> DistributedError:
    return DistributedError(
        f"two processes joined as rank {guest.rank}, local rank {guest.local_rank} of host "
        f"{guest.cross_rank}: give DistributedContext a rank= and a local_rank= of its own on each"
    )


def _accept(
    listener: socket.socket, rendezvous: Rendezvous, deadline: float, missing: list[int]
) -> tuple[Link, Guest] | None:
    """The next process that connects; None for one that does not belong to this run."""
    try:
        listener.settimeout(max(0.0, deadline - time.monotonic()))
        sock, _ = listener.accept()
    except (socket.timeout, BlockingIOError):
        raise DistributedError(
            f"{_ranks(missing)} did not join DistributedContext within {JOIN_S:.0f} s: "
            "create it on every rank, and see that rank's own output for why it did not"
        ) from None
    try:
        link = greet(sock, rendezvous.secret, rendezvous.name, is_host=True)
        link.sock.settimeout(HANDSHAKE_S)
        frame = link.receive()
    except LostError:
        return None
    link.sock.settimeout(None)
    topology, port = frame.value
    return link, Guest(Topology(*topology), port)


def _ranks(missing: list[int]) -> str:
    shown = ", ".join(str(rank) for rank in missing[:8]) + (", …" if len(missing) > 8 else "")
    return f"rank{'s' if len(missing) > 1 else ''} {shown}"


def _visit(topology: Topology, rendezvous: Rendezvous, local_port: int) -> tuple[Link, Any]:
    """Connects to the chief, with retries until it listens and the handshake succeeds. Returns its answer, sent
    once all have joined.
    """
    deadline = time.monotonic() + JOIN_S
    while True:
        try:
            link = greet(_connect(rendezvous), rendezvous.secret, rendezvous.name, is_host=False)
            link.send(encode(_HELLO, 0, (tuple(topology), local_port)))
            return link, _welcome(link)
        except (OSError, LostError) as error:
            if time.monotonic() >= deadline:
                raise DistributedError(
                    f"rank {topology.rank} could not join the chief at {rendezvous.host}:"
                    f"{rendezvous.known_port() or '?'} within {JOIN_S:.0f} s ({error}): "
                    "see rank 0's own output, and whether that host can be reached"
                ) from None
        time.sleep(CONNECT_BACKOFF_S)


def _connect(rendezvous: Rendezvous) -> socket.socket:
    port = rendezvous.known_port()
    if port is None:
        raise ConnectionRefusedError("the chief does not listen yet")
    sock = socket.create_connection((rendezvous.host, port), HANDSHAKE_S)
    if sock.getsockname() == sock.getpeername():
        # The system may choose the called port as the socket's own port, which connects the socket to itself.
        sock.close()
        raise ConnectionRefusedError("nobody listens")
    return sock


def _welcome(link: Link) -> Any:
    frame = link.receive()
    if frame.kind == _REFUSED:
        raise DistributedError(str(frame.value))
    return frame.value
