"""One stream with the changes of lists and documents, and with the points and log lines of trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Union

from ._api import Api, number_of
from ._metric_stream import MetricUpdate, update_of
from ._stream import resumed

_PATH = "/api/v1/watch"
_DOCUMENTS = ("experiment", "trial", "checkpoint", "model", "agent")


class Change(NamedTuple):
    """A changed document of the topic with this index. ``document`` is in the API's form; None if the document
    does not belong to the topic (the client may never have received it).
    """

    topic: int
    id: str
    document: dict[str, Any] | None


class Points(NamedTuple):
    """Points of the topic with this index, in the order of storing."""

    topic: int
    items: list[MetricUpdate]


class LogLine(NamedTuple):
    """A log line of a trial. ``at_ms`` is by the clock of the trial's machine, in milliseconds since 1970.
    ``source`` is stdout, stderr or agent. ``level`` is empty if the line has none. ``cursor`` is where a topic of
    lines continues. ``str(line)`` is its text.
    """

    trial: str
    run: int
    node_rank: int
    rank: int | None
    at_ms: float
    source: str
    level: str
    text: str
    cursor: str

    def __str__(self) -> str:
        return self.text


class Lines(NamedTuple):
    """Log lines of the topic with this index, in the order of storing."""

    topic: int
    items: list[LogLine]


class Reset(NamedTuple):
    """The client must read the list (the points, the lines) of this topic again; ``topic`` is None for all lists
    and documents.
    """

    topic: int | None
    reason: str


class Bookmark(NamedTuple):
    """A point of the stream at which all earlier events have arrived: continue with ``after=cursor``."""

    cursor: str


WatchEvent = Union[Change, Points, Lines, Reset, Bookmark]


def watch(
    api: Api, topics: Sequence[Mapping[str, Any]], after: str, patience_s: float
) -> Iterator[WatchEvent]:
    """Yields the events of ``Client.watch``."""
    names: list[str] = []
    wanted_topics = [dict(topic) for topic in topics]
    frames = resumed(
        f"POST {_PATH}",
        lambda cursor: api.stream(_PATH, {"topics": wanted_topics, "after": cursor}),
        after,
        patience_s,
    )
    for frame in frames:
        if "opened" in frame:
            names = [str(name) for name in frame["opened"].get("topics") or []]
        else:
            yield from _events_of(frame, names)


def _events_of(frame: Mapping[str, Any], names: Sequence[str]) -> Iterator[WatchEvent]:
    """Equal topics have one name on the stream, and each of them gets the event."""
    change, gone = frame.get("change"), frame.get("gone")
    points, lines = frame.get("points"), frame.get("lines")
    reset, bookmark = frame.get("reset"), frame.get("bookmark")
    if change is not None:
        document = next((change[kind] for kind in _DOCUMENTS if kind in change), None)
        for topic in _indexes(names, change):
            yield Change(topic, str(change["id"]), document)
    elif gone is not None:
        for topic in _indexes(names, gone):
            yield Change(topic, str(gone["id"]), None)
    elif points is not None:
        updates = [update_of(item) for item in points.get("items") or []]
        yield from (Points(topic, updates) for topic in _indexes(names, points))
    elif lines is not None:
        read = [line_of(item) for item in lines.get("items") or []]
        yield from (Lines(topic, read) for topic in _indexes(names, lines))
    elif reset is not None:
        reason = str(reset.get("reason") or "")
        if reset.get("topic"):
            yield from (Reset(topic, reason) for topic in _indexes(names, reset))
        else:
            yield Reset(None, reason)
    elif bookmark is not None:
        yield Bookmark(str(bookmark["cursor"]))


def line_of(item: Mapping[str, Any]) -> LogLine:
    """Converts a line of the API."""
    rank = item.get("rank")
    return LogLine(
        trial=str(item.get("trial") or ""),
        run=int(item.get("run") or 0),
        node_rank=int(item.get("nodeRank") or 0),
        rank=None if rank is None else int(rank),
        at_ms=number_of(item.get("atMs") or 0),
        source=str(item.get("source") or ""),
        level=str(item.get("level") or ""),
        text=str(item.get("text") or ""),
        cursor=str(item.get("cursor") or ""),
    )


def _indexes(names: Sequence[str], frame: Mapping[str, Any]) -> list[int]:
    return [index for index, name in enumerate(names) if name == frame.get("topic")]
