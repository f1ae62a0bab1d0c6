"""One keep-alive HTTP connection to one service, and the backoff between attempts.

``http.client`` takes longer to import than the rest of this package, so the thread that sends the first request
imports it, while the script continues.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from ._limits import REPLY_BYTES_MAX, RETRY_AFTER_MAX_S
from ._version import __version__

if TYPE_CHECKING:
    import http.client


# The format of W3C Trace Context; ids of zeros only are invalid.
_TRACEPARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}", re.ASCII)


def trace_headers() -> dict[str, str]:
    """The headers that put requests in the trace of TRACEPARENT. A script may set the variable to anything."""
    traceparent = os.environ.get("TRACEPARENT", "")
    return {"traceparent": traceparent} if _TRACEPARENT.fullmatch(traceparent) else {}


class UnreachableError(Exception):
    """No answer arrived: the connection was refused, reset, timed out, or was not HTTP. The request may have been
    executed.
    """


class Reply(NamedTuple):
    """An answer, whatever its status. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> dict[str, Any]:
        """The body as a JSON object; empty if it is not one."""
        try:
            value = json.loads(self.body)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    def is_of_platform(self) -> bool:
        """Whether the platform answered, not a proxy in front of it: an answer of another program decides nothing."""
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        is_error = not 200 <= self.status < 300
        return kind == ("application/problem+json" if is_error else "application/json")

    def is_success(self) -> bool:
        """Whether the platform did what was asked."""
        return 200 <= self.status < 300 and self.is_of_platform()

    def problem(self) -> str:
        """The text of a problem+json answer, for people."""
        if not self.is_of_platform():
            return f"HTTP {self.status} from something that is not Trainyard"
        body = self.json()
        detail = body.get("detail") or body.get("title") or body.get("code")
        return str(detail) if detail else f"HTTP {self.status}"

    def retry_after_s(self) -> float | None:
        """The wait in seconds that the service asked for, capped at the limit; None without a Retry-After."""
        value = self.headers.get("retry-after")
        if value is None:
            return None
        try:
            seconds = float(value)
        except ValueError:
            import email.utils

            try:
                seconds = email.utils.parsedate_to_datetime(value).timestamp() - time.time()
            except (TypeError, ValueError, IndexError, OverflowError):
                return None
        # NaN compares false with every number, so it results in no wait.
        return min(seconds, RETRY_AFTER_MAX_S) if seconds > 0 else 0.0


class HttpConnection:
    """Sends requests with a bearer token (or none, if it is empty) over one connection, and reconnects when it breaks.
    Only ``abort`` may be called from a second thread.
    """

    def __init__(self, base_url: str, token: str, timeout_s: float) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{base_url!r} is not an http or https address")
        self._https = parts.scheme == "https"
        self._host = parts.hostname
        self._port = parts.port
        self._prefix = parts.path.rstrip("/")
        self._timeout_s = timeout_s
        self._connection: http.client.HTTPConnection | None = None
        self._aborted = False
        self._headers = {
            **({"Authorization": f"Bearer {token}"} if token else {}),
            "Accept": "application/json",
            "User-Agent": f"trainyard-python/{__version__}",
        }

    def request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Sends one request and reads its answer. Raises UnreachableError if no complete answer arrives."""
        import http.client

        reused = self._connection is not None
        try:
            return self._attempt(method, path, body, headers)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError) as error:
            self.close()
            if not reused:
                raise UnreachableError(_describe(error)) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise UnreachableError(_describe(error)) from error
        # The service has closed the idle connection. All requests of the SDK are repeatable, so it retries at once
        # on a new one.
        try:
            return self._attempt(method, path, body, headers)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise UnreachableError(_describe(error)) from error

    def request_json(self, method: str, path: str, message: object) -> Reply:
        """Sends one request with a JSON body."""
        return self.request(method, path, json.dumps(message, allow_nan=False).encode("utf-8"))

    @contextlib.contextmanager
    def open(self, path: str) -> Iterator[Reply | Iterator[bytes]]:
        """Opens an answer that is read line by line as it arrives; yields a Reply on an error status. Raises
        UnreachableError, also when the stream breaks off.
        """
        import http.client

        try:
            response = self._send("GET", path, None, None)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise UnreachableError(_describe(error)) from error
        try:
            if response.status == 200:
                yield _lines(response)
            else:
                content = b"".join(_lines(response))
                yield Reply(response.status, _lower(response.headers), content)
        finally:
            self.close()

    def abort(self) -> None:
        """Makes a request that another thread is waiting in fail at once, and every later request, too."""
        import socket

        # The flag is set before the socket is looked up: a thread that is connecting checks the flag afterwards.
        self._aborted = True
        connection = self._connection
        sock = connection.sock if connection is not None else None
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Closes the connection; the next request opens a new one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _attempt(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str] | None
    ) -> Reply:
        response = self._send(method, path, body, headers)
        content = response.read(REPLY_BYTES_MAX + 1)
        if len(content) > REPLY_BYTES_MAX:
            raise ValueError(f"the answer is longer than {REPLY_BYTES_MAX} bytes")
        if response.will_close or not response.isclosed():
            self.close()
        return Reply(response.status, _lower(response.headers), content)

    def _send(
        self, method: str, path: str, body: bytes | None, more: Mapping[str, str] | None
    ) -> http.client.HTTPResponse:
        import http.client

        if self._connection is None:
            kind = http.client.HTTPSConnection if self._https else http.client.HTTPConnection
            self._connection = kind(self._host, self._port, timeout=self._timeout_s)
            self._connection.connect()
        if self._aborted:
            raise ConnectionAbortedError("this connection was aborted")
        headers = {**self._headers, **(more or {})}
        if body is not None:
            headers["Content-Type"] = "application/json"
        self._connection.request(method, self._prefix + path, body=body, headers=headers)
        return self._connection.getresponse()


def _lines(response: http.client.HTTPResponse) -> Iterator[bytes]:
    import http.client

    while True:
        try:
            line = response.readline(REPLY_BYTES_MAX)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise UnreachableError(_describe(error)) from error
        if not line:
            return
        yield line


def _lower(headers: http.client.HTTPMessage) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _describe(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _between(low: float, high: float) -> float:
    return low + (high - low) * int.from_bytes(os.urandom(4), "big") / 2**32


class Backoff:
    """Waits that double up to a limit, each randomly shortened by up to half, so that trials do not retry at the
    same time. The randomness comes from the system: the script's random generators must not be touched.
    """

    def __init__(self, first_s: float, max_s: float) -> None:
        self._first_s = first_s
        self._max_s = max_s
        self._bound_s = first_s

    def next_s(self, reply: Reply | None = None) -> float:
        """The wait before the next attempt; at least as long as the service asked for."""
        return self.at_least_s(reply.retry_after_s() if reply is not None else None)

    def at_least_s(self, asked_s: float | None) -> float:
        """The wait before the next attempt; at least ``asked_s``, unless that is None."""
        wait_s = self._bound_s * _between(0.5, 1.0)
        self._bound_s = min(self._bound_s * 2, self._max_s)
        # Up to a tenth on top spreads clients that received the same Retry-After.
        return wait_s if asked_s is None else max(wait_s, asked_s * _between(1.0, 1.1))

    def reset(self) -> None:
        """Resets the wait to the first one, after a success."""
        self._bound_s = self._first_s
