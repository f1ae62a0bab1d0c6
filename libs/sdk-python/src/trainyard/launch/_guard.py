"""Ends the ranks of a launcher that was killed.

Each rank has a session of its own, and would outlive a launcher that was killed. The guard is a small process that
detects the launcher's end by a pipe: only the launcher has the pipe's other end. Inside a task the agent stops the
ranks instead.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
import uuid

# The variable by which an announced rank is found.
MARK = "TRAINYARD_LAUNCH_MARK"
FIND_TRIES = 10
FIND_PAUSE_S = 0.1


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

    def expect(self) -> dict[str, str]:
        """Announces a rank, and returns the variables for its environment. If the launcher is killed before it adds
        the rank, the guard finds it by them, on Linux.
        """
        mark = str(uuid.uuid4())
        self._tell(f"?{mark}\n")
        return {MARK: mark}

    def add(self, pid: int) -> None:
        """Adds the announced rank, which leads its process group."""
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
    expected = ""
    with os.fdopen(reading, "r") as lines:
        for line in lines:
            kind, value = line[0], line[1:].strip()
            if kind == ".":
                return
            if kind == "?":
                expected = value
            elif kind == "+":
                expected = ""
                ranks.add(int(value))
            else:
                ranks.discard(int(value))
    for pid in ranks | (_find(expected) if expected else set()):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


def _find(mark: str) -> set[int]:
    """Finds a rank that was not added, by the mark in its environment, which it has a moment after its start. Returns
    its process id; nothing if the rank was not started, or on a host without ``/proc``.
    """
    for _ in range(FIND_TRIES):
        leaders = _leaders_with(f"{MARK}={mark}".encode())
        if leaders:
            return leaders
        time.sleep(FIND_PAUSE_S)
    return set()


def _leaders_with(variable: bytes) -> set[int]:
    leaders: set[int] = set()
    with contextlib.suppress(FileNotFoundError):
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
                if variable in file.read().split(b"\0") and os.getpgid(pid) == pid:
                    leaders.add(pid)
    return leaders
