"""Events as they leave the platform, read from their stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, BinaryIO, ClassVar, NamedTuple
from urllib.parse import urlencode

from ._api import Api, Query, segment
from ._shown import Shown, text_of
from ._stream import resumed_blocks

_PATH = "/api/v1/events"


class Event(Shown):
    """An event of the platform, with the names of CloudEvents: ``id``, ``source``, ``type`` (such as
    ``"dev.trainyard.experiment.ExperimentEnded.v1"``), ``subject`` (its stream, such as ``"experiment-12"``), ``time``
    (ISO 8601, UTC), ``sequence`` (its position in the log), ``epoch`` (changes when the log may have gone back),
    ``streamversion`` (its number in its stream, from 1), ``workspace``, ``correlationid``, ``causationid``,
    ``authid``, ``traceparent``, ``data`` (its body; None if that is larger than 64 KiB) and ``dataref`` (then the path
    of the event with its body).

    ``name`` is the type without prefix and version, ``"ExperimentEnded"``. ``place`` is where a stream continues
    after the event.
    """

    _shown: ClassVar = ("time", "name", "subject", "data")

    def __init__(self, api: Api, message: Mapping[str, Any], place: str) -> None:
        super().__init__(message)
        self._api = api
        self.place = place
        self.id = str(message["id"])
        self.source = text_of(message, "source")
        self.type = str(message["type"])
        self.subject = text_of(message, "subject")
        self.time = text_of(message, "time")
        self.sequence = int(message["sequence"])
        self.epoch = text_of(message, "epoch")
        self.streamversion = int(message.get("streamversion") or 0)
        self.workspace = text_of(message, "workspace")
        self.correlationid = text_of(message, "correlationid")
        self.causationid = text_of(message, "causationid")
        self.authid = text_of(message, "authid")
        self.traceparent = text_of(message, "traceparent")
        self.dataref = text_of(message, "dataref")
        self.data: dict[str, Any] | None = message.get("data")

    @property
    def name(self) -> str:
        """The type without prefix and version."""
        parts = self.type.split(".")
        return parts[-2] if len(parts) > 1 else self.type

    def reload(self) -> Event:
        """Requests the event with its whole body."""
        message = self._api.get(f"{_PATH}/{segment(str(self.sequence))}")
        return Event(self._api, message, self.place)


class Placed(NamedTuple):
    """A place of the stream, and the event there; None if nothing up to this place matched."""

    place: str
    event: Event | None


def filter_of(
    types: str | Sequence[str],
    object: str,
    id: int | str,
    experiment: int | str,
    workspace: str,
    label: str,
    where: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Returns the filter of ``Client.events`` as the API's object."""
    return {
        "types": [types] if isinstance(types, str) else list(types),
        "object": object,
        "id": str(id),
        "experiment": str(experiment),
        "workspace": workspace,
        "label": label,
        "where": [f"{field}={_value_text(value)}" for field, value in (where or {}).items()],
    }


def query_of(filter: Mapping[str, Any]) -> Query:
    """Returns a filter as the parameters of a request."""
    lists = {name: value if isinstance(value, list) else [value] for name, value in filter.items()}
    return [(name, text) for name, texts in lists.items() for text in texts if text != ""]


def place_of(place: Event | int | str) -> str:
    """Returns the place of an event, an id of the stream or a position in the log as a text."""
    return place.place if isinstance(place, Event) else str(place)


def read_events(
    api: Api, query: Query, after: str, from_ms: float | None, follow: bool
) -> Iterator[Placed]:
    """Yields the events that the parameters select, each once, and the places up to which nothing matched."""
    ending = [] if follow else [("noFollow", "true")]

    def open_after(place: str) -> AbstractContextManager[BinaryIO]:
        begin = [("fromMs", repr(from_ms))] if from_ms is not None else []
        start = [("after", place)] if place else begin
        parameters = urlencode([*query, *start, *ending])
        return api.stream(f"{_PATH}?{parameters}" if parameters else _PATH)

    last = 0
    for place, message in resumed_blocks(f"GET {_PATH}", open_after, after, api.patience_s):
        if message is None:
            yield Placed(place, None)
            continue
        event = Event(api, message, place)
        # The events come in the order of the log, so one that is not later was yielded before.
        if event.sequence > last:
            last = event.sequence
            yield Placed(place, event)


def _value_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
