"""Writes checkpoints behind the training, one after the other.

One is written at a time, and the next is copied only when it is done: memory holds one copy. What
goes wrong is raised at the next call, so that a training does not go on for long without
checkpoints.
"""

from __future__ import annotations

import threading
from typing import Callable, List, Optional


class Background:
    """The thread that writes; there is one only while there is something to write."""

    def __init__(self) -> None:
        self._thread: Optional[threading.Thread] = None
        self._error: Optional[BaseException] = None
        self._stored: List[str] = []

    def start(self, store: Callable[[], str]) -> None:
        """Calls ``store``, which returns the UUID, in the thread; waits for the earlier one."""
        self.wait()

        def run() -> None:
            try:
                self._stored.append(store())
            except BaseException as error:
                self._error = error

        self._thread = threading.Thread(target=run, name="trainyard-checkpoint")
        self._thread.start()

    def wait(self) -> None:
        """Returns when nothing is being written any more. Raises what went wrong."""
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()
        self._raise()

    def stored(self) -> List[str]:
        """The UUIDs that are stored since the last call. Raises what went wrong."""
        self._raise()
        found: List[str] = []
        while self._stored:
            found.append(self._stored.pop(0))
        return found

    def _raise(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error
