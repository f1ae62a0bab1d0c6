"""Ends the ranks of a launcher that was killed.

Each rank has a session of its own, and would outlive a launcher that was killed. The guard is a small process that
detects the launcher's end by a pipe: only the launcher has the pipe's other end. Inside a task the agent stops the
ranks instead.
"""

from __future__ import annotations

import contextlib
import os
import signal
import uuid


class Guard:
    """Tracks the living ranks in the guard process. It is created before the first rank, while the launcher has
    one thread. On Linux it also finds ranks by ``variables``, which must be in their environment: the launcher may be
    killed after it started a rank and before it added it.
    """

    def __init__(self) -> None:
        self.variables = {"TRAINYARD_LAUNCHER": str(uuid.uuid4())}
        reading, self._pipe = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                os.close(self._pipe)
                _leave_terminal()
                _guard(reading, self.variables)
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


def _guard(reading: int, variables: dict[str, str]) -> None:
    ranks: set[int] = set()
    with os.fdopen(reading, "r") as lines:
        for line in lines:
            if line.startswith("."):
                return
            change = ranks.add if line.startswith("+") else ranks.discard
            change(int(line[1:]))
    # A started process holds the pipe until it has its own environment, so all ranks have it by now.
    for pid in ranks | _leaders_with(variables):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


def _leaders_with(variables: dict[str, str]) -> set[int]:
    """Finds the leaders of process groups that were started with these variables; none on a host without ``/proc``."""
    wanted = {f"{name}={value}".encode() for name, value in variables.items()}
    leaders: set[int] = set()
    with contextlib.suppress(FileNotFoundError):
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
                if wanted <= set(file.read().split(b"\0")) and os.getpgid(pid) == pid:
                    leaders.add(pid)
    return leaders
