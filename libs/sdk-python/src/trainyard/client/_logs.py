"""Reads and follows the log lines of a trial or an experiment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime, timezone
from itertools import islice
from typing import Any, BinaryIO, Union
from urllib.parse import urlencode

from ._api import Api
from ._stream import resumed

# The lines of one request; the API's limit.
LOG_PAGE_SIZE = 1_000

Time = Union[datetime, str, float, None]


def read_lines(
    api: Api,
    path: str,
    filters: Mapping[str, Any],
    follow: bool,
    head: int | None,
    tail: int | None,
    patience_s: float,
) -> Iterator[dict[str, Any]]:
    """Returns the lines of ``Task.logs`` as the API's objects. ``filters`` has the API's names; None and "" filter
    nothing.
    """
    for name, count in (("head", head), ("tail", tail)):
        if count is not None and count < 1:
            raise ValueError(f"{name} must be at least 1, not {count}")
    if tail is not None and (follow or head is not None):
        raise ValueError("tail cannot be combined with head or follow")
    known = {key: str(value) for key, value in filters.items() if value not in (None, "")}
    if tail is not None:
        return _last(api, f"{path}/logs", known, tail)
    lines = (
        _followed(api, f"{path}/logs:follow", known, patience_s)
        if follow
        else _pages(api, f"{path}/logs", known, head)
    )
    return lines if head is None else islice(lines, head)


def ms_of(name: str, time: Time) -> float | None:
    """Returns a time in milliseconds since 1970. ``time`` is a datetime, an ISO 8601 text (without a zone: UTC),
    or a number of seconds since 1970. Raises ValueError for another text.
    """
    if time is None:
        return None
    if isinstance(time, (int, float)):
        return time * 1000.0
    if isinstance(time, str):
        try:
            # Python 3.9 does not read the Z of UTC.
            time = datetime.fromisoformat(time.replace("Z", "+00:00"))
        except ValueError:
            raise ValueError(f"{name} must be an ISO 8601 time, not {time!r}") from None
    if time.tzinfo is None:
        time = time.replace(tzinfo=timezone.utc)
    return time.timestamp() * 1000.0


def _pages(
    api: Api, path: str, filters: Mapping[str, str], head: int | None
) -> Iterator[dict[str, Any]]:
    size = LOG_PAGE_SIZE if head is None else min(head, LOG_PAGE_SIZE)
    token = ""
    while True:
        page = api.get(path, [*filters.items(), ("pageSize", str(size)), ("pageToken", token)])
        yield from page.get("items") or []
        token = str(page.get("nextPageToken") or "")
        if not token:
            return


def _last(api: Api, path: str, filters: Mapping[str, str], tail: int) -> Iterator[dict[str, Any]]:
    """Reads pages backwards, and yields the last ``tail`` lines in the order of storing."""
    pages: list[list[Any]] = []
    missing, before = tail, ""
    while missing > 0:
        size = str(min(missing, LOG_PAGE_SIZE))
        page = api.get(path, [*filters.items(), ("tail", size), ("before", before)])
        items = page.get("items") or []
        pages.append(items)
        missing -= len(items)
        before = str(page.get("before") or "")
        if not before:
            break
    for items in reversed(pages):
        yield from items


def _followed(
    api: Api, path: str, filters: Mapping[str, str], patience_s: float
) -> Iterator[dict[str, Any]]:
    def open_after(cursor: str) -> AbstractContextManager[BinaryIO]:
        query = urlencode({**filters, **({"after": cursor} if cursor else {})})
        return api.stream(f"{path}?{query}" if query else path)

    return resumed(f"GET {path}", open_after, "", patience_s)
