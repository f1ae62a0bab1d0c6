"""Starts the program that uploads a checkpoint to its object store (see _uploader), and reads its outcome."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple

from .. import _log as log
from .._limits import UPLOAD_SILENCE_S
from ._uploader_status import REFUSED


class Sent(NamedTuple):
    """The outcome of an upload, with the reason if not everything was sent."""

    # The manifest with the digests that the store verifies; None if not all files could be read.
    manifest: list[dict[str, Any]] | None
    is_sent: bool
    refused: bool = False
    why: str = ""


class UploadProcess:
    """Uploads files in a separate process, at most one upload at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    def run(self, order: dict[str, Any]) -> Sent:
        """Uploads a checkpoint. Returns when all files are sent, or when the rest has to wait."""
        command = [sys.executable, "-m", "trainyard._checkpoint._uploader"]
        # The uploader must use the same package as this process, even if the script imported it from a path of its
        # own.
        package = Path(__file__).resolve().parents[2]
        environment = {**os.environ, "PYTHONPATH": str(package)}
        with self._lock:
            if self._ended:
                return Sent(None, False, why="the run ends")
            # The process starts in / so that no module in the script's folder shadows one of Python's.
            try:
                self._process = subprocess.Popen(
                    command,
                    cwd="/",
                    env=environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
            except OSError as error:
                # A host that is short of memory or processes may recover.
                return Sent(None, False, why=f"the upload could not be started: {error}")
        process = self._process
        lines = _Lines(process)
        output = _exchange(process, json.dumps(order).encode("utf-8"))
        lines.join()
        status = process.wait()
        try:
            manifest = json.loads(output)
        except ValueError:
            # The program ended before all files were read, or while it wrote the manifest.
            manifest = None
        if status == 0 and manifest is not None:
            return Sent(manifest, True)
        why = lines.last or "the upload ended unexpectedly"
        return Sent(manifest, False, status == REFUSED, why)

    def end(self) -> None:
        """Kills a running upload, and prevents further ones."""
        with self._lock:
            self._ended = True
            if self._process is not None:
                self._process.kill()


def _exchange(process: subprocess.Popen[bytes], order: bytes) -> bytes:
    assert process.stdin is not None and process.stdout is not None
    try:
        with process.stdin:
            process.stdin.write(order)
    except BrokenPipeError:
        pass
    with process.stdout:
        return process.stdout.read()


class _Lines(threading.Thread):
    """Logs the program's lines as they come; the last one may be the reason of a failure. The program reports
    progress while it moves bytes, so it is killed after a long silence.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        super().__init__(name="trainyard-upload-log", daemon=True)
        self._process = process
        self.last = ""
        self.start()

    def run(self) -> None:
        """Reads the program's lines until it ends."""
        stderr = self._process.stderr
        assert stderr is not None
        partial = b""
        with stderr, selectors.DefaultSelector() as selector:
            selector.register(stderr, selectors.EVENT_READ)
            while True:
                if not selector.select(UPLOAD_SILENCE_S):
                    self._process.kill()
                    self._say(
                        f"the upload was ended after {UPLOAD_SILENCE_S:.0f} s without progress"
                    )
                    return
                piece = os.read(stderr.fileno(), 65_536)
                if not piece:
                    return
                *lines, partial = (partial + piece).split(b"\n")
                for line in lines:
                    self._say(line.decode("utf-8", "replace").rstrip())

    def _say(self, line: str) -> None:
        if self.last:
            log.info("%s", self.last)
        self.last = line
