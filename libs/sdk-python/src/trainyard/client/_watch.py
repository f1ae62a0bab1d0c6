"""What changes of lists and documents, in one stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Union

from ._api import Api
from ._stream import resumed

_PATH = "/api/v1/watch"
_DOCUMENTS = ("experiment", "trial", "checkpoint", "model", "agent")


class Change(NamedTuple):
    """A document of the topic with this index. ``document``: as the API shows it; None when it does not belong to the
    topic any more (the client may never have had it).
    """

    topic: int
    id: str
    document: dict[str, Any] | None


class Reset(NamedTuple):
    """The list of this topic is to be read again; ``topic`` is None for all topics."""

    topic: int | None
    reason: str


class Bookmark(NamedTuple):
    """Everything up to here has come: continue with ``after=cursor``."""

    cursor: str


WatchEvent = Union[Change, Reset, Bookmark]


def watch(
    api: Api, topics: Sequence[Mapping[str, Any]], after: str, patience_s: float
) -> Iterator[WatchEvent]:
    """``Client.watch``."""
    names: list[str] = []
    asked = [dict(topic) for topic in topics]
    frames = resumed(
        f"POST {_PATH}",
        lambda cursor: api.stream(_PATH, {"topics": asked, "after": cursor}),
        after,
        lambda frame: str((frame.get("bookmark") or {}).get("cursor") or ""),
        patience_s,
    )
    for frame in frames:
        if "opened" in frame:
            names = [str(name) for name in frame["opened"].get("topics") or []]
        else:
            yield from _events_of(frame, names)


def _events_of(frame: Mapping[str, Any], names: Sequence[str]) -> Iterator[WatchEvent]:
    """Equal topics have one name, and each gets the event."""
    change, gone = frame.get("change"), frame.get("gone")
    reset, bookmark = frame.get("reset"), frame.get("bookmark")
    if change is not None:
        document = next((change[kind] for kind in _DOCUMENTS if kind in change), None)
        for topic in _indexes(names, change):
            yield Change(topic, str(change["id"]), document)
    elif gone is not None:
        for topic in _indexes(names, gone):
            yield Change(topic, str(gone["id"]), None)
    elif reset is not None:
        reason = str(reset.get("reason") or "")
        if reset.get("topic"):
            yield from (Reset(topic, reason) for topic in _indexes(names, reset))
        else:
            yield Reset(None, reason)
    elif bookmark is not None:
        yield Bookmark(str(bookmark["cursor"]))


def _indexes(names: Sequence[str], frame: Mapping[str, Any]) -> list[int]:
    return [index for index, name in enumerate(names) if name == frame.get("topic")]
