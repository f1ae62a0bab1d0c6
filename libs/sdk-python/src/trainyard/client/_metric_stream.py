"""Streams the points of an experiment as they are stored, over connections that are reopened when they break."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import urlencode

from ._api import Api, number_of, segment
from ._stream import resumed


class MetricPoint(NamedTuple):
    """One report of a trial. ``metrics`` are its scalars, ``others`` all other values. ``superseded``: a later run
    repeats its step. ``trial``, ``run`` and ``key`` identify a report. ``reported_at_ms`` is by the reporting
    process's clock, in milliseconds since 1970.
    """

    trial: str
    run: int
    group: str
    steps_completed: float
    reported_at_ms: float
    metrics: dict[str, float]
    others: dict[str, Any]
    superseded: bool
    key: str


class SupersededPoints(NamedTuple):
    """Run ``run`` of a trial repeats steps of earlier runs: points of those runs count only up to ``after_step``
    (below 0: none counts).
    """

    trial: str
    run: int
    after_step: float


class MetricUpdate(NamedTuple):
    """A point or a supersession. ``position`` is where to continue after it."""

    position: str
    point: MetricPoint | None
    superseded: SupersededPoints | None


def follow_metrics(
    api: Api, task: str, after: str, group: str, patience_s: float
) -> Iterator[MetricUpdate]:
    """Yields the updates of ``Client.follow_metrics``."""
    for message in _messages(api, task, after, group, patience_s):
        update = update_of(message)
        if update.point is not None or update.superseded is not None:
            yield update


def all_points(api: Api, trial: str, group: str, patience_s: float) -> Iterator[dict[str, Any]]:
    """Yields the points of ``Trial.iter_metrics`` as the API's objects."""
    path, token, position = f"/api/v1/trials/{segment(trial)}/metrics", "", ""
    seen: set[tuple[Any, Any]] = set()
    while True:
        page = api.get(path, [("group", group), ("pageToken", token)])
        position = position or str(page.get("streamPosition") or "")
        for point in page.get("items") or []:
            seen.add((point.get("run"), point.get("key")))
            yield point
        token = str(page.get("nextPageToken") or "")
        if not token:
            break
    for message in _messages(api, trial, position, group, patience_s):
        point = message.get("point")
        # A later page may already have had the first points of the stream.
        if point is not None and (point.get("run"), point.get("key")) not in seen:
            yield point


def _messages(
    api: Api, task: str, after: str, group: str, patience_s: float
) -> Iterator[dict[str, Any]]:
    kind = "trials" if "." in task else "experiments"
    path = f"/api/v1/{kind}/{segment(task)}/metrics:follow"

    def open_after(position: str) -> AbstractContextManager[BinaryIO]:
        query = {"after": position, "group": group}
        parameters = urlencode({name: value for name, value in query.items() if value})
        return api.stream(f"{path}?{parameters}" if parameters else path)

    return resumed(f"GET {path}", open_after, after, patience_s)


def update_of(message: Mapping[str, Any]) -> MetricUpdate:
    """Converts a message of the stream to an update."""
    point, superseded = message.get("point"), message.get("superseded")
    return MetricUpdate(
        str(message["position"]),
        None if point is None else point_of(point),
        None
        if superseded is None
        else SupersededPoints(
            str(superseded["trial"]),
            int(superseded.get("run") or 0),
            number_of(superseded.get("afterStep") or 0),
        ),
    )


def point_of(message: Mapping[str, Any]) -> MetricPoint:
    """Converts a point of the API."""
    return MetricPoint(
        trial=str(message["trial"]),
        run=int(message.get("run") or 0),
        group=str(message.get("group") or ""),
        steps_completed=number_of(message.get("stepsCompleted") or 0),
        reported_at_ms=number_of(message.get("reportedAtMs") or 0),
        metrics={name: number_of(value) for name, value in (message.get("metrics") or {}).items()},
        others=dict(message.get("others") or {}),
        superseded=bool(message.get("superseded")),
        key=str(message.get("key") or ""),
    )
