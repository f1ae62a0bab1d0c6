"""Uploads and downloads files with the requests that the platform planned. No credentials are needed.

A planned request is sent exactly as it is: its headers are signed. A failed request raises a TransferError, and
the caller asks the platform for a new plan: URLs expire, and a new plan omits parts that the store already has.
"""

from __future__ import annotations

import http.client
import os
import re
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Callable, NamedTuple
from urllib.parse import urlsplit

from .._limits import COPY_BYTES, STORE_ANSWER_BYTES_MAX, STORE_TIMEOUT_S
from .._storage import FileEntry
from ._hash_lane import HashLane


class TransferError(Exception):
    """A transfer to or from the object store failed; a retry may succeed."""


class WrongContentError(Exception):
    """The bytes do not match their digest: they were corrupted on the way, or the file or object has changed."""


class Planned(NamedTuple):
    """A request to the object store, as the platform planned it."""

    method: str
    url: str
    headers: Mapping[str, str]

    @staticmethod
    def of(message: Any) -> Planned:
        """Reads a planned request from its proto JSON. Raises TransferError if it is malformed."""
        try:
            headers = {
                str(name): str(value) for name, value in (message.get("headers") or {}).items()
            }
            return Planned(str(message["method"]), str(message["url"]), headers)
        except (KeyError, TypeError, AttributeError) as error:
            raise TransferError(f"the platform's plan cannot be read: {message!r}") from error


class Part:
    """A range of a file, as the body of a request."""

    def __init__(self, file: BinaryIO, count: int, moved: Callable[[int], None]) -> None:
        self._file = file
        self._left = count
        self._moved = moved
        self.bytes_read = 0

    def read(self, size: int = -1) -> bytes:
        """Returns the next bytes, at most ``size``; empty at the end of the part."""
        count = self._left if size < 0 else min(size, self._left)
        piece = self._file.read(count)
        if count > 0 and not piece:
            raise WrongContentError(f"{self._file.name} is shorter than when it was read")
        self._left -= len(piece)
        self.bytes_read += len(piece)
        self._moved(len(piece))
        return piece


class StoreConnections:
    """Keeps one connection per thread and host, for reuse."""

    def __init__(self) -> None:
        self._local = threading.local()
        self._lock = threading.Lock()
        self._opened: set[http.client.HTTPConnection] = set()

    def send(
        self,
        request: Planned,
        path: Path,
        offset: int,
        count: int,
        moved: Callable[[int], None],
    ) -> None:
        """Sends ``count`` bytes of a file from ``offset``, and calls ``moved`` with the size of each piece. After
        a failure, calls ``moved`` with the negated sum. Raises TransferError and WrongContentError.
        """
        status, answer = 0, ""
        with open(path, "rb") as file:
            file.seek(offset)
            body = Part(file, count, moved)
            try:
                status, answer = self._ask(request, body, count)
            finally:
                if not 200 <= status < 300:
                    moved(-body.bytes_read)
        if 200 <= status < 300:
            return
        if status == 400 and any(code in answer for code in _WRONG_CONTENT):
            raise WrongContentError(f"the content of {path} does not match its digest: {answer}")
        raise TransferError(f"the object store answered {status}: {_said_by(answer)}")

    def fetch(self, request: Planned, entry: FileEntry, target: Path) -> None:
        """Downloads a file and compares it with its manifest entry. Raises TransferError, WrongContentError,
        OSError.
        """
        connection = self._connection(request)
        try:
            connection.request(
                request.method, _target_of(request.url), headers=dict(request.headers)
            )
            response = connection.getresponse()
            if response.status == 404:
                response.read(STORE_ANSWER_BYTES_MAX)
                raise WrongContentError("is missing")
            if response.status != 200:
                answer = response.read(STORE_ANSWER_BYTES_MAX).decode("utf-8", "replace")
                raise TransferError(
                    f"the object store answered {response.status}: {_said_by(answer)}"
                )
            size = 0
            with open(target, "wb") as file, HashLane(entry.bytes) as lane:
                while piece := response.read(COPY_BYTES):
                    lane.update(piece)
                    file.write(piece)
                    size += len(piece)
                digest = lane.hexdigest()
        except (OSError, http.client.HTTPException) as error:
            self._drop(request)
            if isinstance(error, OSError) and error.filename is not None:
                raise
            raise TransferError(str(error) or type(error).__name__) from error
        except BaseException:
            self._drop(request)
            raise
        if size < entry.bytes and not response.isclosed():
            self._drop(request)
        if size != entry.bytes or digest != entry.sha256:
            os.unlink(target)
            if size < entry.bytes:
                raise TransferError(f"{entry.path} ended after {size} of {entry.bytes} bytes")
            raise WrongContentError(
                f"has {size} bytes, and its content differs from the stored one"
            )

    def close(self) -> None:
        """Closes all connections. No thread may be using them."""
        with self._lock:
            for connection in self._opened:
                connection.close()
            self._opened.clear()

    def _ask(self, request: Planned, body: Part, count: int) -> tuple[int, str]:
        headers = dict(request.headers)
        # The signed headers may contain the content length already, in upper or lower case.
        if not any(name.lower() == "content-length" for name in headers):
            headers["Content-Length"] = str(count)
        try:
            connection = self._connection(request)
            connection.request(request.method, _target_of(request.url), body=body, headers=headers)
            response = connection.getresponse()
            answer = response.read(STORE_ANSWER_BYTES_MAX).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            self._drop(request)
            raise TransferError(str(error) or type(error).__name__) from error
        except WrongContentError:
            self._drop(request)
            raise
        if response.will_close or not response.isclosed():
            self._drop(request)
        return response.status, answer

    def _connection(self, request: Planned) -> http.client.HTTPConnection:
        by_host: dict[str, http.client.HTTPConnection]
        by_host = self._local.__dict__.setdefault("by_host", {})
        parts = urlsplit(request.url)
        key = f"{parts.scheme}://{parts.netloc}"
        if key not in by_host:
            https = parts.scheme == "https"
            kind = http.client.HTTPSConnection if https else http.client.HTTPConnection
            connection = kind(
                parts.hostname or "", parts.port, timeout=STORE_TIMEOUT_S, blocksize=COPY_BYTES
            )
            by_host[key] = connection
            with self._lock:
                self._opened.add(connection)
        return by_host[key]

    def _drop(self, request: Planned) -> None:
        parts = urlsplit(request.url)
        connection = self._local.__dict__.get("by_host", {}).pop(
            f"{parts.scheme}://{parts.netloc}", None
        )
        if connection is not None:
            connection.close()
            with self._lock:
                self._opened.discard(connection)


# The texts in refusals of S3 and Google Cloud Storage for content that does not match its digest.
_WRONG_CONTENT = (
    "BadDigest",
    "XAmzContentChecksumMismatch",
    "XAmzContentSHA256Mismatch",
    "InvalidDigest",
    # An upload session of Google's answers with this sentence, without a code.
    "doesn't match calculated",
)


def _said_by(answer: str) -> str:
    """The code and message of a refusal in XML, joined; any other answer unchanged."""
    elements = [re.search(f"<{name}>([^<]*)</{name}>", answer) for name in ("Code", "Message")]
    text = ": ".join(one.group(1).strip(" .") for one in elements if one is not None)
    return text or answer.strip()


def _target_of(url: str) -> str:
    parts = urlsplit(url)
    path = parts.path or "/"
    return f"{path}?{parts.query}" if parts.query else path
