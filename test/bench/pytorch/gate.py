"""A gate at which the two compared trainings take turns.

Each training runs a block of batches when the benchmark says so, and then reports the duration.
While one trains the other waits, so that both run on the same idle machine.
"""

from __future__ import annotations

import os
import socket
import time


class Gate:
    """Call ``pass_batch`` at the beginning of each batch.

    Only the first process waits for the benchmark; the others wait for its gradients. The socket
    of ``BENCH_SOCKET`` carries lines: the training writes "ready" at the first batch, and then
    the seconds of each block. The benchmark writes "go" to begin a block, and "end" to end the
    process.
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
            # The exit also ends the training's other processes, whose output is not needed.
            os._exit(0)
        self._began = time.perf_counter()
