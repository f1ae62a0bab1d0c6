"""Server-sent events, over connections that are reopened when they break."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, BinaryIO

from .._http import Backoff
from ._api import BACKOFF_FIRST_S, BACKOFF_MAX_S, error_of
from ._errors import ApiError, PlatformAwayError


def resumed(
    what: str,
    open_after: Callable[[str], AbstractContextManager[BinaryIO]],
    position: str,
    patience_s: float,
) -> Iterator[dict[str, Any]]:
    """Yields the messages of a stream until it ends. A broken connection is reopened after the latest id. Raises
    ApiError when the platform refuses, and PlatformAwayError with the text ``what`` if reconnecting fails for
    ``patience_s`` seconds.
    """
    backoff = Backoff(BACKOFF_FIRST_S, BACKOFF_MAX_S)
    end_s = time.monotonic() + patience_s
    while True:
        opened = False
        try:
            with open_after(position) as response:
                opened = True
                for kind, event_id, message in _events(response):
                    if kind == "end":
                        return
                    if kind == "problem":
                        raise error_of(int(message.get("status") or 500), message)
                    position = event_id or position
                    backoff.reset()
                    yield message
            why = "the stream broke off"
        except PlatformAwayError as error:
            why = str(error)
        except ApiError as error:
            if error.status < 500 and error.status != 429:
                raise
            why = str(error)
        if opened:
            end_s = time.monotonic() + patience_s
        wait_s = backoff.next_s()
        if time.monotonic() + wait_s > end_s:
            raise PlatformAwayError(f"{what}: {why}")
        time.sleep(wait_s)


def _events(response: BinaryIO) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yields the type, id and object of each event until the connection ends. An incomplete last event is dropped."""
    kind, event_id, data = "message", "", ""
    for raw in response:
        line = raw.decode("utf-8").rstrip("\r\n")
        if line.startswith("event:"):
            kind = line[6:].strip()
        elif line.startswith("id:"):
            event_id = line[3:].strip()
        elif line.startswith("data:"):
            data += line[5:].strip()
        elif not line:
            if data:
                yield kind, event_id, json.loads(data)
            kind, event_id, data = "message", "", ""
