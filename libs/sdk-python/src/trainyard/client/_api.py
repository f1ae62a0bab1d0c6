"""Sends the client's requests, with retries for a limited time while the platform is unavailable."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO
from urllib.parse import quote, urlencode

from .._http import Backoff, HttpConnection, Reply, UnreachableError, trace_headers
from ._errors import ApiError, NotFoundError, PlatformAwayError, RequestProblem

REQUEST_TIMEOUT_S = 30.0
# The time limit of retries in seconds: longer than a restart of a service takes.
PATIENCE_S = 60.0
BACKOFF_FIRST_S = 0.2
BACKOFF_MAX_S = 5.0
PAGE_SIZE = 500

Query = Sequence["tuple[str, str]"]


class Api:
    """Sends requests to the gateway at a URL, with a token."""

    def __init__(self, url: str, token: str, patience_s: float = PATIENCE_S) -> None:
        self._connection = HttpConnection(url, token, REQUEST_TIMEOUT_S)
        self._url, self._token = url.rstrip("/"), token
        self._patience_s = patience_s
        self._trace = trace_headers()

    @property
    def url(self) -> str:
        """The address of the gateway."""
        return self._url

    @property
    def token(self) -> str:
        """The bearer token of the requests."""
        return self._token

    @property
    def patience_s(self) -> float:
        """The time limit of retries in seconds."""
        return self._patience_s

    def close(self) -> None:
        self._connection.close()

    def get(self, path: str, query: Query = ()) -> dict[str, Any]:
        """Returns the answer of a GET as a JSON object."""
        return self.call("GET", path + _text_of(query))

    def pages(self, path: str, query: Query = ()) -> Iterator[dict[str, Any]]:
        """Yields the items of all pages, and requests each page when it is needed."""
        token = ""
        while True:
            page = self.get(path, [*query, ("pageSize", str(PAGE_SIZE)), ("pageToken", token)])
            yield from page.get("items") or []
            token = str(page.get("nextPageToken") or "")
            if not token:
                return

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        if_match: str = "",
        key: str = "",
    ) -> dict[str, Any]:
        """Sends a request with an idempotency key, so that a retry has no second effect. The key is random unless
        given.
        """
        content = None if body is None else json.dumps(body, allow_nan=False).encode("utf-8")
        headers = dict(self._trace)
        if method != "GET":
            headers["Idempotency-Key"] = key or str(uuid.uuid4())
        if if_match:
            headers["If-Match"] = if_match
        backoff = Backoff(BACKOFF_FIRST_S, BACKOFF_MAX_S)
        end_s = time.monotonic() + self._patience_s
        while True:
            reply = None
            try:
                reply = self._connection.request(method, path, content, headers)
                why = reply.problem()
            except UnreachableError as error:
                why = str(error)
            if reply is not None and 200 <= reply.status < 300:
                return reply.json()
            if reply is not None and not _passes(reply.status, reply.json()):
                raise error_of(reply.status, reply.json(), reply.retry_after_s())
            if reply is not None and reply.json().get("code") == "being_verified":
                # The platform is verifying the checkpoint, which takes as long as reading its files.
                end_s = time.monotonic() + self._patience_s
            wait_s = backoff.next_s(reply)
            if time.monotonic() + wait_s > end_s:
                raise PlatformAwayError(f"{method} {path}: {why}")
            time.sleep(wait_s)

    @contextmanager
    def stream(self, path: str, body: Mapping[str, Any] | None = None) -> Iterator[BinaryIO]:
        """Yields an answer's bytes as they arrive; sends a POST if there is a body, else a GET."""
        # A local import: most scripts download nothing.
        import http.client
        import urllib.error
        import urllib.request

        headers = {
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            **self._trace,
        }
        content = None if body is None else json.dumps(body, allow_nan=False).encode("utf-8")
        request = urllib.request.Request(self._url + path, content, headers)
        try:
            with urllib.request.urlopen(request, timeout=REQUEST_TIMEOUT_S) as response:
                yield response
        except urllib.error.HTTPError as error:
            headers = {name.lower(): value for name, value in error.headers.items()}
            reply = Reply(error.code, headers, error.read())
            raise error_of(reply.status, reply.json(), reply.retry_after_s()) from None
        except urllib.error.URLError as error:
            raise PlatformAwayError(f"GET {path}: {error.reason}") from error
        except (http.client.HTTPException, ConnectionError, TimeoutError) as error:
            raise PlatformAwayError(f"GET {path} broke off: {error}") from error

    @contextmanager
    def download(self, path: str) -> Iterator[BinaryIO]:
        """Yields the bytes of a download as they arrive, after the platform has the capacity for it."""
        backoff = Backoff(BACKOFF_FIRST_S, BACKOFF_MAX_S)
        end_s = time.monotonic() + self._patience_s
        while True:
            with ExitStack() as opened:
                try:
                    body = opened.enter_context(self.stream(path))
                except ApiError as error:
                    wait_s = backoff.at_least_s(error.retry_after_s)
                    if error.status not in (429, 503) or time.monotonic() + wait_s > end_s:
                        raise
                else:
                    yield body
                    return
            time.sleep(wait_s)


def error_of(status: int, body: Mapping[str, Any], retry_after_s: float | None = None) -> ApiError:
    """The exception for a problem+json answer of the platform."""
    code = str(body.get("code") or status)
    detail = str(body.get("detail") or body.get("title") or f"HTTP {status}")
    problems = [
        RequestProblem(str(one.get("path") or ""), str(one.get("detail") or ""))
        for one in body.get("errors") or []
    ]
    kind = NotFoundError if status == 404 else ApiError
    return kind(status, code, detail, problems, retry_after_s)


def segment(text: str) -> str:
    """Encodes a text as one segment of a path. Raises ValueError for "", "." and ".."."""
    if not text or text in (".", ".."):
        raise ValueError(f"{text!r} is no name")
    return quote(text, safe="")


def number_of(value: Any) -> float:
    """A number of proto JSON, which writes NaN and the infinities as strings."""
    return float(value)


def _text_of(query: Query) -> str:
    parameters = [(name, value) for name, value in query if value != ""]
    return f"?{urlencode(parameters)}" if parameters else ""


def _passes(status: int, body: Mapping[str, Any]) -> bool:
    busy = status == 409 and body.get("code") == "in_progress"
    return status >= 500 or status == 429 or busy
