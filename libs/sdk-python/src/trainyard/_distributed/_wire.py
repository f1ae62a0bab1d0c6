"""One connection between two processes of a run.

Before anything is read that could do harm, each side proves that it knows the run's secret: an
HMAC-SHA256 over two fresh numbers and the name of the rendezvous, in both directions. Then come
frames: eight bytes of length, then a pickled ``(kind, number, value)``. Nothing is encrypted, as with
torch.distributed's own connections.
"""

from __future__ import annotations

import collections
import hashlib
import hmac
import os
import pickle
import socket
import struct
from typing import Any, NamedTuple

from .._limits import HANDSHAKE_S, KEEPALIVE_COUNT, KEEPALIVE_S, WIRE_BYTES

_LENGTH = struct.Struct(">Q")
_NONCE = 32
# Readable by every Python that the SDK supports.
_PROTOCOL = 4


class LostError(Exception):
    """The other side has gone, or never was one of this run."""


class Frame(NamedTuple):
    """A message of one process to another."""

    kind: str
    number: int
    value: Any


def encode(kind: str, number: int, value: Any) -> bytes:
    """A frame's bytes. Raises what pickling raises for a value that cannot be sent."""
    body = pickle.dumps((kind, number, value), protocol=_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


class Link:
    """An open connection after the handshake. One thread at a time."""

    def __init__(self, sock: socket.socket) -> None:
        sock.settimeout(None)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _keep_alive(sock)
        self.sock = sock
        self._bytes = bytearray()
        self._frames: collections.deque[Frame] = collections.deque()
        # Nothing more will come than what has been read.
        self.over = False

    def send(self, frame: bytes) -> None:
        """Sends a whole frame. Raises LostError when the other side is gone."""
        try:
            self.sock.sendall(frame)
        except OSError as error:
            raise LostError(str(error)) from None

    def take(self) -> Frame | None:
        """The next frame that has arrived already. Raises LostError after the last one."""
        if self._frames:
            return self._frames.popleft()
        if self.over:
            raise LostError("it closed the connection")
        return None

    def put_back(self, frame: Frame) -> None:
        """Lets the next ``take`` return this frame."""
        self._frames.appendleft(frame)

    def receive(self) -> Frame:
        """Waits for the next frame."""
        while True:
            frame = self.take()
            if frame is not None:
                return frame
            self.read()

    def read(self, flags: int = 0) -> bool:
        """Reads what there is, waiting for something unless ``flags`` say not to; False when there
        was nothing.
        """
        if self.over:
            return False
        try:
            piece = self.sock.recv(WIRE_BYTES, flags)
        except BlockingIOError:
            return False
        except OSError:
            piece = b""
        if not piece:
            self.over = True
            return True
        self._bytes += piece
        self._split()
        return True

    def is_over(self) -> bool:
        """Whether the other side is known to be gone."""
        self.read(socket.MSG_DONTWAIT)
        return self.over

    def close(self) -> None:
        """Takes what has arrived, so that closing does not cost the other side what was sent to it."""
        while self.read(socket.MSG_DONTWAIT) and not self.over:
            pass
        self.sock.close()

    def _split(self) -> None:
        start = 0
        while len(self._bytes) - start >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._bytes, start)
            end = start + _LENGTH.size + length
            if len(self._bytes) < end:
                break
            with memoryview(self._bytes) as view:
                self._frames.append(Frame(*pickle.loads(view[start + _LENGTH.size : end])))
            start = end
        del self._bytes[:start]


def greet(sock: socket.socket, secret: bytes, rendezvous: str, is_host: bool) -> Link:
    """Proves the secret to the other side and has it prove it. Raises LostError when it cannot, or
    takes too long.
    """
    own_nonce = os.urandom(_NONCE)
    try:
        sock.settimeout(HANDSHAKE_S)
        sock.sendall(own_nonce)
        peer_nonce = _exactly(sock, _NONCE)
        pair = own_nonce + peer_nonce if is_host else peer_nonce + own_nonce
        sock.sendall(_proof(secret, rendezvous, pair, is_host))
        proof = _exactly(sock, hashlib.sha256().digest_size)
    except OSError as error:
        sock.close()
        raise LostError(str(error)) from None
    if not hmac.compare_digest(proof, _proof(secret, rendezvous, pair, not is_host)):
        sock.close()
        raise LostError("it does not know the secret of this run")
    return Link(sock)


def _proof(secret: bytes, rendezvous: str, pair: bytes, is_host: bool) -> bytes:
    side = b"host" if is_host else b"guest"
    return hmac.new(secret, side + pair + rendezvous.encode("utf-8"), hashlib.sha256).digest()


def _exactly(sock: socket.socket, count: int) -> bytes:
    content = b""
    while len(content) < count:
        piece = sock.recv(count - len(content))
        if not piece:
            raise OSError("it closed the connection")
        content += piece
    return content


def _keep_alive(sock: socket.socket) -> None:
    """A host that vanishes is noticed, however long nothing is said."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", KEEPALIVE_S),
        ("TCP_KEEPINTVL", KEEPALIVE_S),
        ("TCP_KEEPCNT", KEEPALIVE_COUNT),
    ):
        option = getattr(socket, name, None)
        if option is not None:
            sock.setsockopt(socket.IPPROTO_TCP, option, value)
