"""Sends a host's TensorBoard files to the object store that takes the run's checkpoints, while they are written.

They are in the run's folder, and every minute the program that sends checkpoints sends those that have changed. The
agent sends what is there after the end, however the process ended: nothing here has to finish.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

from .. import _log as log
from .._checkpoint._upload_process import UploadProcess
from .._limits import TENSORBOARD_SYNC_S

# The size and the time of change of each file, by its path.
_State = dict[str, tuple[int, int]]


class TensorBoardSync:
    """The thread that does so in one process of a host."""

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
        """Starts the thread; called once the process has TensorBoard files."""
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._run, name="trainyard-tensorboard", daemon=True
            )
            self._thread.start()

    def close(self) -> None:
        """Ends it, also out of an upload: the agent sends the rest."""
        self._stopped.set()
        self._process.end()
        if self._thread is not None:
            self._thread.join(1.0)

    def _run(self) -> None:
        while not self._stopped.wait(TENSORBOARD_SYNC_S):
            try:
                self._send()
            # A defect here must not cost the training anything.
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
            log.warning("TensorBoard files are not sent yet (%s); they stay on this host", sent.why)


def _state_of(folder: Path) -> _State:
    found: _State = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            status = os.stat(path)
            found[path] = (status.st_size, status.st_mtime_ns)
    return found
