"""One connection between two processes of a run.

Before a side unpickles anything, each side proves to the other that it knows the run's secret: by an HMAC-SHA256
over two random numbers and the name of the rendezvous. Frames follow: eight bytes of length, then a pickled
``(kind, number, value)``. Nothing is encrypted, as in torch.distributed.
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
# The pickle protocol: readable by every Python that the SDK supports.
_PROTOCOL = 4


class LostError(Exception):
    """The other side has ended, or does not belong to this run."""


class Frame(NamedTuple):
    """A message from one process to another."""

    kind: str
    number: int
    value: Any


def encode(kind: str, number: int, value: Any) -> bytes:
    """Returns a frame's bytes. Raises pickle's error for a value that cannot be sent."""
    body = pickle.dumps((kind, number, value), protocol=_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


class Link:
    """An open connection after the handshake. Only one thread at a time may use it."""

    def __init__(self, sock: socket.socket) -> None:
        sock.settimeout(None)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _keep_alive(sock)
        self.sock = sock
        self._bytes = bytearray()
        self._frames: collections.deque[Frame] = collections.deque()
        # Whether the other side has closed the connection.
        self.over = False

    def send(self, frame: bytes) -> None:
        """Sends a whole frame. Raises LostError if the other side has ended."""
        try:
            self.sock.sendall(frame)
        except OSError as error:
            raise LostError(str(error)) from None

    def take(self) -> Frame | None:
        """Returns the next frame that has arrived, or None. Raises LostError after the last one."""
        if self._frames:
            return self._frames.popleft()
        if self.over:
            raise LostError("the other process closed the connection")
        return None

    def put_back(self, frame: Frame) -> None:
        """Makes the next ``take`` return this frame."""
        self._frames.appendleft(frame)

    def receive(self) -> Frame:
        """Waits for the next frame."""
        while True:
            frame = self.take()
            if frame is not None:
                return frame
            self.read()

    def read(self, flags: int = 0) -> bool:
        """Reads the available bytes, waiting for some unless ``flags`` prevent it. Returns False if none were
        available.
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
        """Whether the other side is known to have ended."""
        self.read(socket.MSG_DONTWAIT)
        return self.over

    def close(self) -> None:
        """Reads all that has arrived before closing: otherwise the other side could lose data sent to it."""
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
    """Exchanges proofs of the secret with the other side. Raises LostError if its proof is wrong or too late."""
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
        raise LostError("the other process does not know the secret of this run")
    return Link(sock)


def _proof(secret: bytes, rendezvous: str, pair: bytes, is_host: bool) -> bytes:
    side = b"host" if is_host else b"guest"
    return hmac.new(secret, side + pair + rendezvous.encode("utf-8"), hashlib.sha256).digest()


def _exactly(sock: socket.socket, count: int) -> bytes:
    content = b""
    while len(content) < count:
        piece = sock.recv(count - len(content))
        if not piece:
            raise OSError("the other process closed the connection")
        content += piece
    return content


def _keep_alive(sock: socket.socket) -> None:
    """TCP keep-alive detects a host that vanishes, however long the connection is idle."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", KEEPALIVE_S),
        ("TCP_KEEPINTVL", KEEPALIVE_S),
        ("TCP_KEEPCNT", KEEPALIVE_COUNT),
    ):
        option = getattr(socket, name, None)
        if option is not None:
            sock.setsockopt(socket.IPPROTO_TCP, option, value)
