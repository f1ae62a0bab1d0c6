"""Ends the ranks of a launcher that was killed.

Each rank has a session of its own, and so outlives a launcher that cannot end it any more. The guard is a
small process that waits for the end of the launcher, by a pipe of which only that holds the other end.
Inside a task the agent does this.
"""

from __future__ import annotations

import contextlib
import os
import signal


class Guard:
    """Knows the ranks that are alive. Made before the first of them, while there is one thread."""

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
        """A rank was started, as the first of its process group."""
        self._tell(f"+{pid}\n")

    def forget(self, pid: int) -> None:
        """A rank is over, with all that it had started."""
        self._tell(f"-{pid}\n")

    def close(self) -> None:
        """The launcher ends by itself, and has ended what it had to."""
        self._tell(".\n")
        os.close(self._pipe)
        os.waitpid(self._pid, 0)

    def _tell(self, line: str) -> None:
        # Where the guard itself was killed, the training continues without.
        with contextlib.suppress(BrokenPipeError):
            os.write(self._pipe, line.encode())


def _leave_terminal() -> None:
    """Hears no Ctrl-C, and keeps nobody waiting who reads what the launcher writes."""
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
