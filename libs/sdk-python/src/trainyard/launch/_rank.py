"""One process of the run, its output, and its end."""

from __future__ import annotations

import collections
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, BinaryIO, Callable

from .._end import STALLED
from .._limits import LAUNCH_LINE_BYTES, LAUNCH_OUTPUT_END_S, LAUNCH_TAIL_LINES
from ._failure import Failure, failure_of, has_said
from ._prefix import prefixed

_writing = threading.Lock()


class RankProcess:
    """Starts the process, and calls ``ended`` from a thread when it has ended. The process has a session of its
    own, so that killing it also kills its data loaders' workers.
    """

    def __init__(
        self,
        rank: int,
        node: int,
        command: list[str],
        env: Mapping[str, str],
        error_file: Path,
        ended: Callable[[RankProcess], None],
    ) -> None:
        self.rank = rank
        self._node = node
        self._error_file = error_file
        self._ended = ended
        self._stderr: collections.deque[str] = collections.deque(maxlen=LAUNCH_TAIL_LINES)
        self.code: int | None = None
        self.was_told_to_end = False
        self._process = subprocess.Popen(
            command,
            env={**env, "TRAINYARD_ERROR_FILE": str(error_file)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        out, err = self._process.stdout, self._process.stderr
        assert out is not None and err is not None
        self._readers = [
            self._thread(self._copy, out, sys.stdout.buffer, None),
            self._thread(self._copy, err, sys.stderr.buffer, self._stderr),
        ]
        self._thread(self._wait)

    @property
    def pid(self) -> int:
        """The id of the process and of its process group."""
        return self._process.pid

    def tell(self, number: int) -> None:
        """Sends a signal to the process and all that it has started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def end(self, number: int) -> None:
        """Sends a signal to the process group, and records that the launcher caused the process's end."""
        self.was_told_to_end = self.was_told_to_end or self.code is None
        self.tell(number)

    def has_failed(self) -> bool:
        """Whether the process failed by itself, or has reported that it is about to fail."""
        if self.code is None:
            return has_said(self._error_file)
        return self.code != 0 and (not self.was_told_to_end or has_said(self._error_file))

    def stalled(self) -> str:
        """The position at which the process is stalled, as it reported; empty while it makes progress."""
        try:
            return Path(f"{self._error_file}{STALLED}").read_text(encoding="utf-8")
        except OSError:
            return ""

    def failure(self) -> Failure:
        """Returns the process's failure, as far as it is known."""
        code = 1 if self.code is None else self.code
        return failure_of(self.rank, self._node, code, list(self._stderr), self._error_file)

    def _thread(self, target: Callable[..., None], *arguments: object) -> threading.Thread:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        thread.start()
        return thread

    def _wait(self) -> None:
        code = self._process.wait()
        # A killed process writes no last lines, and other processes may still hold its pipes open.
        wait_s = LAUNCH_OUTPUT_END_S if code >= 0 else 0.0
        for reader in self._readers:
            reader.join(wait_s)
        self.code = code
        # The process's children end with it.
        self.tell(signal.SIGKILL)
        self._ended(self)

    def finish_output(self) -> None:
        """Waits a short time for the last lines of output."""
        for reader in self._readers:
            reader.join(LAUNCH_OUTPUT_END_S)

    def _copy(
        self, source: IO[bytes], target: BinaryIO, tail: collections.deque[str] | None
    ) -> None:
        with source:
            while True:
                line = source.readline(LAUNCH_LINE_BYTES)
                if not line:
                    return
                if tail is not None:
                    tail.append(line.decode("utf-8", "replace").rstrip("\n"))
                # The reader of the output may have closed it: the training continues.
                with contextlib.suppress(OSError, ValueError), _writing:
                    target.write(prefixed(self.rank, line))
                    target.flush()
