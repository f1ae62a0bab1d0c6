"""Ends the ranks of a launcher that was killed.

Each rank has a session of its own, and would outlive a launcher that was killed. The guard is a small process that
detects the launcher's end by a pipe: only the launcher has the pipe's other end. Inside a task the agent stops the
ranks instead.
"""

from __future__ import annotations

import contextlib
import os
import signal


class Guard:
    """Tracks the living ranks in the guard process. It is created before the first rank, while the launcher has
    one thread.
    """

    def __init__(self) -> None:
        reading, self._pipe = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                os.close(self._pipe)
                _leave_terminal()
                _guard(reading)
            finally:
                os._exit(0)
        os.close(reading)

    def add(self, pid: int) -> None:
        """Adds a started rank, which leads its process group."""
        self._tell(f"+{pid}\n")

    def forget(self, pid: int) -> None:
        """Removes a rank whose process group has ended."""
        self._tell(f"-{pid}\n")

    def close(self) -> None:
        """Tells the guard process to exit, because the launcher has stopped its ranks and ends."""
        self._tell(".\n")
        os.close(self._pipe)
        os.waitpid(self._pid, 0)

    def _tell(self, line: str) -> None:
        # If the guard was killed, the training continues without it.
        with contextlib.suppress(BrokenPipeError):
            os.write(self._pipe, line.encode())


def _leave_terminal() -> None:
    """Makes the guard ignore Ctrl-C, and closes its streams: readers of the launcher's output must not wait for
    the guard.
    """
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)


def _guard(reading: int) -> None:
    ranks: set[int] = set()
    with os.fdopen(reading, "r") as lines:
        for line in lines:
            if line.startswith("."):
                return
            change = ranks.add if line.startswith("+") else ranks.discard
            change(int(line[1:]))
    for pid in ranks:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
