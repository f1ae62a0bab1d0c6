"""Where the two trainings wait for their turn.

Each trains a block of batches when the benchmark says so, and then reports how long that took. While one
trains the other one waits, so that both see the same machine.
"""

from __future__ import annotations

import os
import socket
import time


class Gate:
    """Call ``pass_batch`` at the beginning of each batch. Only the first process waits for the
    benchmark, the others wait for the first one's gradients.

    What is said on the socket that ``BENCH_SOCKET`` names: "ready" at the first batch, then the
    seconds of each block; "go" begins one, "end" ends the process.
    """

    def __init__(self, rank: int = 0) -> None:
        self.block = int(os.environ["BENCH_BLOCK"])
        self._batches = 0
        self._began = 0.0
        self._lines = None
        if rank == 0:
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(os.environ["BENCH_SOCKET"])
            self._lines = connection.makefile("rw")

    def pass_batch(self) -> None:
        if self._lines is not None and self._batches % self.block == 0:
            self._wait("ready" if self._batches == 0 else str(time.perf_counter() - self._began))
        self._batches += 1

    def _wait(self, message: str) -> None:
        assert self._lines is not None
        print(message, file=self._lines, flush=True)
        if self._lines.readline().strip() != "go":
            # The other processes of this training end with it, and what they would say is not asked.
            os._exit(0)
        self._began = time.perf_counter()
