"""The arguments, the cluster and the output of a command."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ..client._access import NoClusterError, find_access
from ..client._api import PAGE_SIZE, PATIENCE_S, Api, Query

_UNIT_S = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


class UsageError(Exception):
    """Wrong usage or input: exit code 2, and nothing was changed."""


class Failure(Exception):
    """A command that ran and failed: exit code 1."""


class Call:
    """One call of the program."""

    def __init__(self, given: Namespace) -> None:
        self.given = given
        self.json = given.output == "json"
        self._connections: list[Api] = []

    def close(self) -> None:
        """Closes the connections."""
        for connection in self._connections:
            connection.close()

    def api(self, patience_s: float = PATIENCE_S) -> Api:
        """Returns a connection to the cluster, which waits for an unavailable platform for ``patience_s`` seconds."""
        try:
            access = find_access("", "", "", os.environ, Path.cwd())
        except NoClusterError:
            raise Failure(
                "No cluster runs here. Log in with trainyard login ADDRESS,"
                " or set TRAINYARD_URL and TRAINYARD_TOKEN."
            ) from None
        except ValueError as error:
            raise UsageError(str(error)) from error
        api = Api(access.url, access.token, patience_s)
        self._connections.append(api)
        return api

    def line(self, text: str) -> None:
        """Prints a line of the result."""
        sys.stdout.write(f"{text}\n")

    def message(self, message: Any) -> None:
        """Prints the API's own object as one line of JSON."""
        self.line(json.dumps(message, ensure_ascii=False, separators=(",", ":")))

    def note(self, text: str) -> None:
        """Prints a note to stderr, apart from the result."""
        sys.stderr.write(f"{printable(text)}\n")

    def table(self, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Prints a table. The columns are as wide as their widest cell."""
        cells = [list(titles), *([printable(cell) for cell in row] for row in rows)]
        widths = [max(len(row[at]) for row in cells) for at in range(len(titles))]
        for row in cells:
            self.line("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())

    def fields(self, fields: Sequence[tuple[str, str]]) -> None:
        """Prints names and values, without the empty ones."""
        width = max(len(name) for name, _ in fields)
        for name, value in fields:
            if value:
                self.line(f"{name.ljust(width)}  {printable(value)}")


def all_pages(api: Api, path: str, query: Query, limit: int | None = None) -> dict[str, Any]:
    """Returns the pages of a list as one page of the API, up to ``limit`` items."""
    items: list[Any] = []
    token = ""
    first: dict[str, Any] | None = None
    while True:
        size = PAGE_SIZE if limit is None else min(PAGE_SIZE, limit - len(items))
        page = api.get(path, [*query, ("pageSize", str(size)), ("pageToken", token)])
        first = first or page
        items += page.get("items") or []
        token = str(page.get("nextPageToken") or "")
        if not token or (limit is not None and len(items) >= limit):
            whole = {**page, "items": items, "nextPageToken": ""}
            if "streamPosition" in first:
                whole["streamPosition"] = first["streamPosition"]
            return whole


def whole_number(option: str, text: str | None, least: int = 0) -> int | None:
    """Returns the number of an option; None if it is not given."""
    if text is None:
        return None
    if re.fullmatch(r"[0-9]{1,9}", text) and int(text) >= least:
        return int(text)
    raise UsageError(f"{option} takes a whole number, at least {least}, not {json.dumps(text)}.")


def time_ms(option: str, text: str | None) -> float | None:
    """Returns a time in milliseconds since 1970: a date and time, or a period that ends now (10m)."""
    if text is None:
        return None
    period = re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text)
    if period is not None:
        return (time.time() - float(period[1]) * _UNIT_S[period[2]]) * 1000
    try:
        at = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        form = "10m, 2h, 7d (ago), or a date and time as 2026-11-22T10:00:00Z"
        raise UsageError(f"{option} takes {form}, not {json.dumps(text)}.") from None
    return (at if at.tzinfo else at.replace(tzinfo=timezone.utc)).timestamp() * 1000


def printable(text: str) -> str:
    """Escapes control characters: a name may have any characters."""
    return re.sub("[\x00-\x1f\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", text)


def first_line(text: str) -> str:
    return text.split("\n", 1)[0]


def at_text(ms: float | None) -> str:
    """Returns a time in UTC."""
    if ms is None:
        return ""
    return datetime.fromtimestamp(float(ms) / 1000, timezone.utc).strftime("%Y-%m-%d %H:%M:%S")


def number_text(value: Any) -> str:
    """Returns a number with six significant digits."""
    if value is None:
        return ""
    number = float(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e6 else f"{number:.6g}"


def lines_of(values: dict[str, Any]) -> Iterator[str]:
    """Yields ``name=value`` for each value."""
    for name, value in values.items():
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        yield f"{name}={number_text(value) if is_number else json.dumps(value)}"
