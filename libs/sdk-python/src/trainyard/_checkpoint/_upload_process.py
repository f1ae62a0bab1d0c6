"""Starts the program that sends a checkpoint to its object store (see _uploader), and reads what became of it."""

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
    """How an upload ended, and the reason where not all was sent."""

    # With the digests that the store compares; None where not all files could be read.
    manifest: list[dict[str, Any]] | None
    is_sent: bool
    refused: bool = False
    why: str = ""


class UploadProcess:
    """Sends files in a process of its own, at most one upload at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    def run(self, order: dict[str, Any]) -> Sent:
        """Sends a checkpoint; returns when all is sent, or when the rest has to wait."""
        command = [sys.executable, "-m", "trainyard._checkpoint._uploader"]
        # The same package as here, also where a script found it by a path of its own.
        package = Path(__file__).resolve().parents[2]
        environment = {**os.environ, "PYTHONPATH": str(package)}
        with self._lock:
            if self._ended:
                return Sent(None, False, why="the run ends")
            # From / so that no module in the script's folder hides one of Python's.
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
                # A host that is short of memory or processes has them again later.
                return Sent(None, False, why=f"the upload could not be started: {error}")
        process = self._process
        lines = _Lines(process)
        output = _exchange(process, json.dumps(order).encode("utf-8"))
        lines.join()
        status = process.wait()
        try:
            manifest = json.loads(output)
        except ValueError:
            # It ended before all files were read, or while it wrote this.
            manifest = None
        if status == 0 and manifest is not None:
            return Sent(manifest, True)
        why = lines.last or "the upload ended unexpectedly"
        return Sent(manifest, False, status == REFUSED, why)

    def end(self) -> None:
        """Ends a running upload, and starts no other."""
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
    """Logs what the program says as it says it; the last line may be the reason of a failure. A program that moves
    bytes says so, so one that says nothing for long is killed.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        super().__init__(name="trainyard-upload-log", daemon=True)
        self._process = process
        self.last = ""
        self.start()

    def run(self) -> None:
        """Reads until the program has ended."""
        stderr = self._process.stderr
        assert stderr is not None
        begun = b""
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
                *lines, begun = (begun + piece).split(b"\n")
                for line in lines:
                    self._say(line.decode("utf-8", "replace").rstrip())

    def _say(self, line: str) -> None:
        if self.last:
            log.info("%s", self.last)
        self.last = line
