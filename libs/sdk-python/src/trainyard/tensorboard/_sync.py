"""Uploads a host's TensorBoard files to the object store of the run's checkpoints, while they are written.

The files are in the run's folder. Every minute, the program that uploads checkpoints uploads the changed files.
After the process has ended in any way, the agent uploads the rest, so this thread may stop at any point.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

from .. import _log as log
from .._checkpoint._upload_process import UploadProcess
from .._limits import TENSORBOARD_SYNC_S

# The size and the modification time of each file, by path.
_State = dict[str, tuple[int, int]]


class TensorBoardSync:
    """The uploading thread, in one process of a host."""

    def __init__(self, url: str, token: str, run: str, folder: Path) -> None:
        self._order = {
            "url": url,
            "token": token,
            "run": run,
            "checkpoint": "",
            "folder": str(folder),
            "manifest": [],
        }
        self._folder = folder
        self._process = UploadProcess()
        self._stopped = threading.Event()
        self._sent: _State = {}
        self._noted = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Starts the thread. Called when the process has TensorBoard files."""
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._run, name="trainyard-tensorboard", daemon=True
            )
            self._thread.start()

    def close(self) -> None:
        """Stops the thread and aborts an upload: the agent uploads the rest."""
        self._stopped.set()
        self._process.end()
        if self._thread is not None:
            self._thread.join(1.0)

    def _run(self) -> None:
        while not self._stopped.wait(TENSORBOARD_SYNC_S):
            try:
                self._send()
            # A defect here must not affect the training.
            except Exception:
                log.exception(
                    "TensorBoard files are no longer sent by this process, but by the agent"
                )
                return

    def _send(self) -> None:
        now = _state_of(self._folder)
        if now == self._sent:
            return
        sent = self._process.run(self._order)
        if sent.is_sent:
            self._sent = now
            self._noted = False
        elif not self._noted and not self._stopped.is_set():
            self._noted = True
            log.warning(
                "TensorBoard files are not sent yet (%s); nothing is lost: they are sent later",
                sent.why,
            )


def _state_of(folder: Path) -> _State:
    state: _State = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            status = os.stat(path)
            state[path] = (status.st_size, status.st_mtime_ns)
    return state
