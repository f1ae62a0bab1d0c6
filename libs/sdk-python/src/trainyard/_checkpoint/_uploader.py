"""Sends one sealed checkpoint to its object store: ``python -m trainyard._checkpoint._uploader``.

The upload is a separate process, so that training shares neither its interpreter nor its memory with it. The agent
continues with the same program after the training process has ended. The program reads one JSON object from stdin:
``url``, ``token``, ``run``, ``checkpoint``, ``folder``, ``manifest``, ``store`` if known, and ``digested`` if the
manifest is the output of an earlier attempt. Without ``checkpoint``, the files of the folder are the trial's
current TensorBoard files. Each round asks the platform which parts the store lacks, and sends them. A retry after
a crash thus sends only the missing parts.

If all files were read, the program writes the manifest with the digests that the store verifies to stdout when it
ends. The exit status is 0 when all is sent, LATER when a later attempt may send the rest, and REFUSED when no
attempt can. The reason is the last line of stderr.
"""

from __future__ import annotations

import functools
import json
import sys
import threading
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
    UPLOAD_PLAN_S,
    UPLOAD_ROUNDS_MAX,
)
from .._storage import FileEntry, files_of
from ._parts import ChangedFileError, Digested, beginning, digest, snapshot
from ._refusals import is_refusal
from ._store import entry_of, is_final
from ._transfer import Planned, StoreConnections, TransferError, WrongContentError
from ._uploader_status import LATER, REFUSED


class Order(NamedTuple):
    """The files to upload, and the connection to the platform."""

    url: str
    token: str
    # The run's id; empty for a folder that a person uploads.
    run: str
    # The checkpoint's UUID; empty for TensorBoard files, which have no manifest.
    checkpoint: str
    folder: Path
    manifest: list[Any]
    # The address of the store, as s3://bucket/prefix; empty if the caller does not know it.
    store: str = ""
    # Whether the manifest has the digests already.
    digested: bool = False

    @property
    def name(self) -> str:
        """The name of the upload in log lines."""
        return f"checkpoint {self.checkpoint}" if self.checkpoint else "TensorBoard files"


class RefusedError(Exception):
    """The platform or the store refuses the upload permanently."""


class CopyingError(Exception):
    """The platform is copying files that an earlier checkpoint has; ask again."""


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
        what = f"checkpoints/{checkpoint}" if checkpoint else "tensorboard"
        whose = f"/api/v1/runs/{run}" if run else "/api/v1"
        self._plan_path = f"{whose}/{what}/upload"
        self._store = StoreConnections()
        self._progress = _Progress(order.name)
        # The manifest; None until all files are read.
        self.manifest: list[dict[str, Any]] | None = None
        self._entries: dict[str, FileEntry] = {}

    def upload(self) -> None:
        """Uploads the missing parts. Raises TransferError if a retry may succeed, otherwise RefusedError."""
        files = self._read()
        self.manifest = [file.message() for file in files]
        self._entries = {file.entry.path: file.entry for file in files}
        total = sum(file.entry.bytes for file in files)
        backoff = Backoff(CHECKPOINT_BACKOFF_FIRST_S, CHECKPOINT_BACKOFF_MAX_S)
        self._progress.begin("sent", total)
        try:
            with ThreadPoolExecutor(UPLOAD_CONNECTIONS) as lanes:
                for first in range(0, len(files), UPLOAD_FILES_PER_PLAN):
                    self._upload_page(files[first : first + UPLOAD_FILES_PER_PLAN], lanes, backoff)
        finally:
            self._platform.close()
            self._store.close()

    def _read(self) -> list[Digested]:
        order, moved = self._order, self._progress.moved
        if not order.checkpoint:
            paths = _own_files(order.folder)
            self._progress.begin("read", sum((order.folder / p).stat().st_size for p in paths))
            return [snapshot(order.folder, path, moved) for path in paths]
        entries = [entry_of(order.checkpoint, entry) for entry in order.manifest]
        if order.digested:
            return [
                Digested(entry, list(told.get("partSha256") or []), str(told.get("md5") or ""))
                for entry, told in zip(entries, order.manifest)
            ]
        self._progress.begin("read", sum(entry.bytes for entry in entries))
        # S3 verifies SHA-256, so the MD5 is not needed.
        wants_md5 = not order.store.startswith("s3://")
        return [digest(order.folder, entry, moved, wants_md5) for entry in entries]

    def _upload_page(
        self, page: list[Digested], lanes: ThreadPoolExecutor, backoff: Backoff
    ) -> None:
        """Asks for plans and uploads their parts until the store has all files of the page."""
        # A plan names every missing file, but only a limited number of parts.
        is_planned_at_once = not any(file.parts for file in page)
        fruitless = 0
        sent: set[tuple[str, int]] = set()
        while True:
            try:
                parts = list(self._planned(page))
            except CopyingError:
                self._progress.note("unchanged files are being copied inside the store")
                time.sleep(backoff.next_s())
                continue
            # A store without checksums cannot report which parts it has: the completion verifies them.
            if all((part.path, part.offset) in sent for part in parts):
                return
            until = time.monotonic() + UPLOAD_PLAN_S
            send = functools.partial(self._send, until, sent)
            failures = [failure for failure in lanes.map(send, parts) if failure is not None]
            if not failures:
                backoff.reset()
                fruitless = 0
                if is_planned_at_once and all((part.path, part.offset) in sent for part in parts):
                    return
                continue
            fruitless = fruitless + 1 if len(failures) == len(parts) else 0
            if fruitless == UPLOAD_ROUNDS_MAX:
                raise failures[0]
            time.sleep(backoff.next_s())

    def _planned(self, page: list[Digested]) -> Iterator[_Part]:
        """Yields the missing parts. If the store has only the beginning of an earlier version of a file, yields
        the whole file.
        """
        files = self._plan(page, [])
        stored = {str(file["path"]): int(file.get("storedBytes") or 0) for file in files}
        if any(stored.values()):
            folder, moved = self._order.folder, self._progress.moved
            beginnings = [
                beginning(folder, path, count, moved) for path, count in stored.items() if count
            ]
            files = self._plan(page, beginnings)
        for file in files:
            for part in file.get("parts") or []:
                offset, count = int(part.get("offset", 0)), int(part.get("bytes", 0))
                yield _Part(str(file["path"]), offset, count, Planned.of(part.get("request")))

    def _plan(self, page: list[Digested], beginnings: list[Digested]) -> list[dict[str, Any]]:
        message = {"files": [file.message() for file in page]}
        if beginnings:
            message["beginnings"] = [file.message() for file in beginnings]
        try:
            reply = self._platform.request("POST", self._plan_path, _values.encode(message))
        except UnreachableError as error:
            raise TransferError(str(error)) from error
        # A person who uploads a folder has to see every refusal; a checkpoint of a run can wait.
        waits = self._order.run and self._order.checkpoint
        if is_refusal(reply) if waits else is_final(reply):
            raise RefusedError(reply.problem())
        if reply.json().get("code") == "being_copied":
            raise CopyingError(reply.problem())
        if not reply.is_success():
            raise TransferError(reply.problem())
        return list(reply.json().get("files") or [])

    def _send(self, until: float, sent: set[tuple[str, int]], part: _Part) -> TransferError | None:
        """Uploads one part and records it. Returns an error that a retry may resolve, so that the other parts are
        sent meanwhile. After ``until`` the part is left to the next plan. Raises ChangedFileError if the file differs
        from the manifest.
        """
        if time.monotonic() > until:
            return None
        try:
            path = self._order.folder / part.path
            self._store.send(part.request, path, part.offset, part.bytes, self._progress.moved)
        except TransferError as error:
            return error
        except WrongContentError as error:
            # The network may have corrupted the content: only the file on the disk can show that no attempt helps.
            if self._order.checkpoint:
                entry = self._entries[part.path]
                digest(self._order.folder, entry, lambda count: None, wants_md5=False)
            return TransferError(str(error))
        sent.add((part.path, part.offset))
        return None


def _own_files(folder: Path) -> list[str]:
    """The files of a folder, without links that lead out of it: a container may have left a link to a file of its
    host.
    """
    own = folder.resolve()
    return [path for path in files_of(folder) if own in (folder / path).resolve().parents]


class _Progress:
    """Logs the progress of a long upload while bytes move: an upload that is silent for long is killed as hanging."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._what = ""
        self._total = 0
        self._moved = 0
        self._next_notice = 0.0

    def begin(self, what: str, total: int) -> None:
        self._what, self._total, self._moved = what, total, 0
        self._next_notice = time.monotonic() + TRANSFER_NOTICE_S

    def note(self, text: str) -> None:
        with self._lock:
            if time.monotonic() < self._next_notice:
                return
            self._next_notice = time.monotonic() + TRANSFER_NOTICE_S
        say(f"{self._name}: {text}")

    def moved(self, count: int) -> None:
        with self._lock:
            self._moved += count
            if count <= 0 or time.monotonic() < self._next_notice:
                return
            self._next_notice = time.monotonic() + TRANSFER_NOTICE_S
            moved, total = self._moved / 1e6, self._total / 1e6
        say(f"{self._name}: {moved:,.0f} of {total:,.0f} MB {self._what}")


def say(line: str) -> None:
    """Writes one line to stderr, which is the trial's log."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def main() -> int:
    """Runs the program and returns its exit status."""
    message = json.loads(sys.stdin.buffer.read())
    order = Order(**{**message, "folder": Path(message["folder"])})
    uploader = Uploader(order)
    status = _status_of(uploader, order)
    if uploader.manifest is not None:
        sys.stdout.write(json.dumps(uploader.manifest))
    return status


def _status_of(uploader: Uploader, order: Order) -> int:
    try:
        uploader.upload()
    except TransferError as error:
        say(str(error))
        return LATER
    except (RefusedError, ChangedFileError, ValueError) as error:
        say(str(error))
        return REFUSED
    except FileNotFoundError as error:
        if order.checkpoint:
            say(f"the sealed file {error.filename} is missing")
            return REFUSED
        # The program that writes TensorBoard files may also remove some.
        say(f"a file was removed meanwhile: {error.filename}")
        return LATER
    except OSError as error:
        # An unreadable folder may become readable later, also for the agent.
        say(f"the sealed checkpoint cannot be read: {error}")
        return LATER
    return 0


if __name__ == "__main__":
    sys.exit(main())
