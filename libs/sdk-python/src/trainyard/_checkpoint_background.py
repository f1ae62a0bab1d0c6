"""Stores checkpoints in a thread, one after the other in the order in which they were asked for, while
the training goes on.

An error is raised once: by ``wait`` of its handle, or by whatever the script does with checkpoints next,
or at the end of the run, which waits for all of them.
"""

from __future__ import annotations

import collections
import threading
from typing import Callable


class StoredCheckpoint:
    """A checkpoint that is being stored."""

    def __init__(self, uuid: str, work: Callable[[], None], changed: threading.Condition) -> None:
        self.uuid = uuid
        """Its UUID. It can be restored once it is stored."""
        self._work = work
        self._changed = changed
        self._is_done = False
        self._error: BaseException | None = None

    def done(self) -> bool:
        """Whether it is stored, or has failed."""
        return self._is_done

    def wait(self, timeout_s: float | None = None) -> bool:
        """Waits until it is stored; False when that takes longer. Raises what storing raised."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_done, timeout_s)
            self._raise()
            return self._is_done

    def _raise(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error


class Background:
    """The thread and its queue."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: collections.deque[StoredCheckpoint] = collections.deque()
        self._failed: collections.deque[StoredCheckpoint] = collections.deque()
        self._thread: threading.Thread | None = None

    def submit(self, uuid: str, work: Callable[[], None]) -> StoredCheckpoint:
        """Does the work after all that was submitted before."""
        stored = StoredCheckpoint(uuid, work, self._changed)
        with self._changed:
            # Each holds a copy of the model: two are enough to keep the storage busy.
            self._changed.wait_for(lambda: len(self._waiting) < 2)
            self._waiting.append(stored)
            if self._thread is None:
                name = "trainyard-background-checkpoints"
                self._thread = threading.Thread(target=self._run, name=name, daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return stored

    def check(self) -> None:
        """Raises the first error that nobody has seen."""
        with self._changed:
            while self._failed:
                self._failed.popleft()._raise()

    def drain(self, timeout_s: float | None = None) -> bool:
        """Waits for all; False when that takes longer. Raises the first error that nobody has seen."""
        # The work itself uses checkpoints: it does not wait for itself.
        if threading.current_thread() is self._thread:
            return True
        with self._changed:
            is_empty = self._changed.wait_for(lambda: not self._waiting, timeout_s)
        self.check()
        return is_empty

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    self._changed.wait()
                stored = self._waiting[0]
            error: BaseException | None = None
            try:
                stored._work()
            # Whatever it is, it is the script's to see.
            except BaseException as raised:
                error = raised
            with self._changed:
                stored._error, stored._is_done = error, True
                # What it holds may be a copy of the whole model.
                stored._work = _nothing
                if error is not None:
                    self._failed.append(stored)
                self._waiting.popleft()
                self._changed.notify_all()


def _nothing() -> None:
    """A work that is done."""
