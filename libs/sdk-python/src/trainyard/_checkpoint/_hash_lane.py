"""Computes SHA-256 in a separate thread, for large files: hashing takes as long as moving the bytes, and the two
overlap.
"""

from __future__ import annotations

import queue
import threading
from types import TracebackType

from .._limits import HASH_LANE_BYTES_MIN, HASH_LANE_PIECES


class HashLane:
    """Computes the SHA-256 of pieces in order. Leaving its ``with`` block ends the thread. Small files are hashed
    in the caller's thread.
    """

    def __init__(self, expected_bytes: int) -> None:
        # A local import: `import trainyard` must stay fast.
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
        """Adds the next piece to the digest."""
        if self._thread is None:
            self._sha256.update(piece)
        else:
            self._pieces.put(piece)

    def hexdigest(self) -> str:
        """Ends the thread and returns the digest of all pieces."""
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
