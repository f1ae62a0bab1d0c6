"""The calls of a search's client, with retries through outages of any length: all of them are idempotent."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from .. import _log as log
from .._http import Backoff, HttpConnection, Reply, UnreachableError
from ._errors import OperationRefusedError, RequestRefusedError, SearchError
from ._limits import (
    BACKOFF_FIRST_S,
    BACKOFF_MAX_S,
    NOTICE_S,
    REQUEST_TIMEOUT_S,
    STREAM_SILENCE_S,
)
from ._state import SearchEvent


class SearchApi:
    """The gateway's calls for the client of one search."""

    def __init__(self, url: str, token: str) -> None:
        self._connection = HttpConnection(url, token, REQUEST_TIMEOUT_S)
        self._url, self._token = url, token

    def close(self) -> None:
        self._connection.close()

    def create_experiment(self, request: Mapping[str, Any], key: str) -> dict[str, Any]:
        headers = {"Idempotency-Key": key}
        return self._call("POST", "/api/v1/experiments", request, headers)

    def cancel_experiment(self, experiment: str) -> None:
        self._call("POST", f"{_path(experiment)}/cancel", {})

    def get_experiment(self, experiment: str) -> dict[str, Any]:
        return self._call("GET", _path(experiment))

    def post_operations(
        self, experiment: str, operations: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Posts operations, and returns their results in order."""
        try:
            answer = self._call(
                "POST", f"{_path(experiment)}/search/operations", {"operations": operations}
            )
        except RequestRefusedError as error:
            raise _refused(error) from error
        return list(answer.get("results") or [])

    def past_events(self, experiment: str) -> Iterator[SearchEvent]:
        """Yields the events up to now."""
        return self._events(experiment, 0, follow=False)

    def events_after(self, experiment: str, version: int) -> Iterator[SearchEvent]:
        """Yields the events after a version as they happen, until the search ends."""
        return self._events(experiment, version, follow=True)

    def _call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        content = None if body is None else json.dumps(body, allow_nan=False).encode("utf-8")
        patience = _Patience(f"{method} {path}")
        while True:
            try:
                reply = self._connection.request(method, path, content, headers)
            except UnreachableError as error:
                patience.wait(str(error))
                continue
            if 200 <= reply.status < 300:
                return reply.json()
            if not _passes(reply):
                raise RequestRefusedError(reply.status, reply.json())
            patience.wait(reply.problem(), reply)

    def _events(self, experiment: str, version: int, follow: bool) -> Iterator[SearchEvent]:
        patience = _Patience(f"the events of experiment {experiment}")
        while True:
            path = f"{_path(experiment)}/search/events?after={version}"
            path += "" if follow else "&noFollow=true"
            stream = HttpConnection(self._url, self._token, STREAM_SILENCE_S)
            try:
                with stream.open(path) as reply:
                    if isinstance(reply, Reply):
                        if not _passes(reply):
                            raise RequestRefusedError(reply.status, reply.json())
                        patience.wait(reply.problem(), reply)
                        continue
                    for message in messages_of(reply):
                        if message.kind == "end":
                            return
                        if message.kind == "problem":
                            _raise_unless_passing(message.data)
                            break
                        event = _event_of(message.data)
                        if event.version == version + 1:
                            version = event.version
                            patience.reset()
                            yield event
            except UnreachableError as error:
                patience.wait(str(error))
                continue
            patience.wait("the stream broke off")


class Message(NamedTuple):
    """A server-sent event."""

    kind: str
    data: str


def messages_of(lines: Iterator[bytes]) -> Iterator[Message]:
    """Parses server-sent events (WHATWG HTML, section 9.2) in the form that the gateway writes."""
    kind, data = "", []
    for line in lines:
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if text == "":
            if data:
                yield Message(kind or "message", "\n".join(data))
            kind, data = "", []
            continue
        name, _, value = text.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "event":
            kind = value
        elif name == "data":
            data.append(value)


def _event_of(text: str) -> SearchEvent:
    event = json.loads(text)
    # The third part of a type like dev.trainyard.search.TrialProposed.v1 is the event's name.
    name = str(event["type"]).split(".")[3]
    return SearchEvent(int(event["streamversion"]), name, event.get("data") or {})


def _raise_unless_passing(text: str) -> None:
    problem = json.loads(text)
    status = int(problem.get("status", 500))
    if status < 500 and status != 429:
        raise RequestRefusedError(status, problem)


def _refused(error: RequestRefusedError) -> SearchError:
    if error.status in (400, 404, 409, 422) and error.code != "experiment_not_found":
        body = {"code": error.code, "detail": str(error).partition(": ")[2]}
        refused = OperationRefusedError(error.status, body)
        refused.problems = error.problems
        return refused
    return error


def _passes(reply: Reply) -> bool:
    """Whether the same request may get a different answer later."""
    busy = reply.status == 409 and reply.json().get("code") == "in_progress"
    return reply.status >= 500 or reply.status == 429 or busy


def _path(experiment: str) -> str:
    return f"/api/v1/experiments/{quote(experiment, safe='')}"


class _Patience:
    """Waits between attempts, and logs from time to time the reason of the wait."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._backoff = Backoff(BACKOFF_FIRST_S, BACKOFF_MAX_S)
        self._noticed_s = 0.0

    def wait(self, why: str, reply: Reply | None = None) -> None:
        now = time.monotonic()
        if now - self._noticed_s > NOTICE_S or self._noticed_s == 0.0:
            log.info("%s: %s; trying again", self._what, why)
            self._noticed_s = now
        time.sleep(self._backoff.next_s(reply))

    def reset(self) -> None:
        self._backoff.reset()
        self._noticed_s = 0.0
