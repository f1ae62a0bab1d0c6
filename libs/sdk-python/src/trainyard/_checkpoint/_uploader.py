"""Sends one sealed checkpoint to its object store: ``python -m trainyard._checkpoint._uploader``.

A process of its own, so that training shares neither its interpreter nor its memory with the upload, and so that
the agent can do the rest by the same program after the training process has ended. It reads one JSON object from
stdin: ``url``, ``token``, ``run``, ``checkpoint``, ``folder`` and ``manifest``, and ``store`` where it is known. Each
round it asks the platform what the store does not have yet, and sends that; a repeat after any crash sends the
missing parts only.

When all is sent it writes the manifest, with the digests that the store compares, to stdout, and ends with 0. It ends
with LATER when a later attempt may send the rest, and with REFUSED when it never will; the
reason is the last line of stderr.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from .. import _values
from .._http import Backoff, HttpConnection, UnreachableError
from .._limits import (
    CHECKPOINT_BACKOFF_FIRST_S,
    CHECKPOINT_BACKOFF_MAX_S,
    CHECKPOINT_TIMEOUT_S,
    TRANSFER_NOTICE_S,
    UPLOAD_CONNECTIONS,
    UPLOAD_FILES_PER_PLAN,
    UPLOAD_ROUNDS_MAX,
)
from ._parts import ChangedFileError, Digested, digest
from ._store import entry_of, is_final
from ._transfer import Planned, StoreConnections, TransferError, WrongContentError
from ._uploader_status import LATER, REFUSED


class Order(NamedTuple):
    """What is to be sent."""

    url: str
    token: str
    run: str
    checkpoint: str
    folder: Path
    manifest: list[Any]
    # The address of the store, as s3://bucket/prefix; empty where the caller does not know it.
    store: str = ""


class RefusedError(Exception):
    """The platform or the store will never take it."""


class _Part(NamedTuple):
    path: str
    offset: int
    bytes: int
    request: Planned


class Uploader:
    """The upload of one checkpoint."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._platform = HttpConnection(order.url, order.token, CHECKPOINT_TIMEOUT_S)
        run, checkpoint = quote(order.run, safe=""), quote(order.checkpoint, safe="")
        self._plan_path = f"/api/v1/runs/{run}/checkpoints/{checkpoint}/upload"
        self._store = StoreConnections()
        self._progress = _Progress(order.checkpoint)

    def upload(self) -> list[Digested]:
        """Sends what is missing. Raises TransferError for later, RefusedError for never."""
        # S3 compares SHA-256.
        wants_md5 = not self._order.store.startswith("s3://")
        files = [
            digest(self._order.folder, entry_of(self._order.checkpoint, entry), wants_md5)
            for entry in self._order.manifest
        ]
        backoff = Backoff(CHECKPOINT_BACKOFF_FIRST_S, CHECKPOINT_BACKOFF_MAX_S)
        self._progress.begin(sum(file.entry.bytes for file in files))
        with ThreadPoolExecutor(UPLOAD_CONNECTIONS) as lanes:
            for first in range(0, len(files), UPLOAD_FILES_PER_PLAN):
                self._upload_page(files[first : first + UPLOAD_FILES_PER_PLAN], lanes, backoff)
        return files

    def _upload_page(
        self, page: list[Digested], lanes: ThreadPoolExecutor, backoff: Backoff
    ) -> None:
        """Plans and sends until the store has all of these files."""
        # A plan names every file that is missing, but has room for so many parts only.
        is_planned_at_once = not any(file.parts for file in page)
        fruitless = 0
        while True:
            parts = list(self._plan(page))
            if not parts:
                return
            failures = [failure for failure in lanes.map(self._send, parts) if failure is not None]
            if not failures:
                backoff.reset()
                fruitless = 0
                if is_planned_at_once:
                    return
                continue
            fruitless = fruitless + 1 if len(failures) == len(parts) else 0
            if fruitless == UPLOAD_ROUNDS_MAX:
                raise failures[0]
            time.sleep(backoff.next_s())

    def _plan(self, page: list[Digested]) -> Iterator[_Part]:
        message = {"files": [file.message() for file in page]}
        try:
            reply = self._platform.request("POST", self._plan_path, _values.encode(message))
        except UnreachableError as error:
            raise TransferError(str(error)) from error
        if is_final(reply.status):
            raise RefusedError(reply.problem())
        if reply.status >= 300:
            raise TransferError(reply.problem())
        for file in reply.json().get("files") or []:
            for part in file.get("parts") or []:
                offset, count = int(part.get("offset", 0)), int(part.get("bytes", 0))
                yield _Part(str(file["path"]), offset, count, Planned.of(part.get("request")))

    def _send(self, part: _Part) -> TransferError | None:
        """Sends one part; what may be sent again is returned, so that the others are sent meanwhile."""
        try:
            path = self._order.folder / part.path
            self._store.send(part.request, path, part.offset, part.bytes)
        except TransferError as error:
            return error
        self._progress.sent(part.bytes)
        return None


class _Progress:
    """Says how far a long upload is."""

    def __init__(self, checkpoint: str) -> None:
        self._checkpoint = checkpoint
        self._bytes = 0
        self._sent = 0
        self._next_notice = 0.0

    def begin(self, total: int) -> None:
        self._bytes = total
        self._next_notice = time.monotonic() + TRANSFER_NOTICE_S

    def sent(self, count: int) -> None:
        self._sent += count
        if time.monotonic() < self._next_notice:
            return
        self._next_notice = time.monotonic() + TRANSFER_NOTICE_S
        sent, total = self._sent / 1e6, self._bytes / 1e6
        say(f"checkpoint {self._checkpoint}: {sent:,.0f} of {total:,.0f} MB sent")


def say(line: str) -> None:
    """Writes one line to stderr, which is the trial's log."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def main() -> int:
    """Runs the program; gives its exit status."""
    message = json.loads(sys.stdin.buffer.read())
    order = Order(**{**message, "folder": Path(message["folder"])})
    try:
        files = Uploader(order).upload()
    except TransferError as error:
        say(str(error))
        return LATER
    except (RefusedError, WrongContentError, ChangedFileError) as error:
        say(str(error))
        return REFUSED
    except OSError as error:
        # A folder that cannot be read now may be read later, by the agent too.
        say(f"the sealed checkpoint cannot be read: {error}")
        return LATER
    sys.stdout.write(json.dumps([file.message() for file in files]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
