"""SHA-256 in a thread of its own, for large files: hashing takes as long as moving, and both can be done at once."""

from __future__ import annotations

import queue
import threading
from types import TracebackType

from .._limits import HASH_LANE_BYTES_MIN, HASH_LANE_PIECES


class HashLane:
    """The SHA-256 of pieces that are given in order. A context manager, whose end ends the thread.

    A file of which little is expected is hashed by the caller's own thread.
    """

    def __init__(self, expected_bytes: int) -> None:
        # Loaded here, as in _storage.
        import hashlib

        self._sha256 = hashlib.sha256()
        # The queue's limit is the number of pieces in memory at one time; None ends the thread.
        self._pieces: queue.Queue[bytes | None] = queue.Queue(HASH_LANE_PIECES)
        self._thread: threading.Thread | None = None
        if expected_bytes >= HASH_LANE_BYTES_MIN:
            self._thread = threading.Thread(target=self._run, name="trainyard-hash", daemon=True)

    def __enter__(self) -> HashLane:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def update(self, piece: bytes) -> None:
        """Takes the next piece."""
        if self._thread is None:
            self._sha256.update(piece)
        else:
            self._pieces.put(piece)

    def hexdigest(self) -> str:
        """Ends the lane and returns the digest of all pieces."""
        self._end()
        return self._sha256.hexdigest()

    def _end(self) -> None:
        if self._thread is not None:
            self._pieces.put(None)
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        while (piece := self._pieces.get()) is not None:
            self._sha256.update(piece)
