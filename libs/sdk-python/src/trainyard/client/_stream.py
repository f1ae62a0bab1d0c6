"""Server-sent events, over connections that are reopened when they break."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, BinaryIO, NamedTuple

from .._http import Backoff
from ._api import BACKOFF_FIRST_S, BACKOFF_MAX_S, error_of
from ._errors import ApiError, PlatformAwayError


class Block(NamedTuple):
    """A message with its id, or an id alone, after which the stream continues, too."""

    id: str
    message: dict[str, Any] | None


def resumed(
    what: str,
    open_after: Callable[[str], AbstractContextManager[BinaryIO]],
    position: str,
    patience_s: float,
) -> Iterator[dict[str, Any]]:
    """Yields the messages of ``resumed_blocks``."""
    for block in resumed_blocks(what, open_after, position, patience_s):
        if block.message is not None:
            yield block.message


def resumed_blocks(
    what: str,
    open_after: Callable[[str], AbstractContextManager[BinaryIO]],
    position: str,
    patience_s: float,
) -> Iterator[Block]:
    """Yields the blocks of a stream until it ends. A broken connection is reopened after the latest id. Raises
    ApiError when the platform refuses, and PlatformAwayError with the text ``what`` if reconnecting fails for
    ``patience_s`` seconds.
    """
    backoff = Backoff(BACKOFF_FIRST_S, BACKOFF_MAX_S)
    end_s = time.monotonic() + patience_s
    while True:
        opened = False
        asked_s: float | None = None
        try:
            with open_after(position) as response:
                opened = True
                for kind, event_id, data in _events(response):
                    if kind == "end":
                        return
                    message = json.loads(data) if data else None
                    if kind == "problem":
                        message = message or {}
                        raise error_of(int(message.get("status") or 500), message)
                    position = event_id or position
                    backoff.reset()
                    yield Block(event_id, message)
            why = "the stream broke off"
        except PlatformAwayError as error:
            why = str(error)
        except ApiError as error:
            if error.status < 500 and error.status != 429:
                raise
            why, asked_s = str(error), error.retry_after_s
        if opened:
            end_s = time.monotonic() + patience_s
        wait_s = backoff.at_least_s(asked_s)
        if time.monotonic() + wait_s > end_s:
            raise PlatformAwayError(f"{what}: {why}")
        time.sleep(wait_s)


def _events(response: BinaryIO) -> Iterator[tuple[str, str, str]]:
    """Yields the type, id and data of each event until the connection ends. An incomplete last event is dropped."""
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
            if data or event_id:
                yield kind, event_id, data
            kind, event_id, data = "message", "", ""
