"""The points of an experiment as they are stored, over connections that are opened again when they break."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import urlencode

from .._http import Backoff
from ._api import BACKOFF_FIRST_S, BACKOFF_MAX_S, Api, error_of, number_of, segment
from ._errors import ApiError, PlatformAwayError


class MetricPoint(NamedTuple):
    """One report of a trial. ``metrics`` are its scalars, ``others`` all other values. ``superseded``: a later
    run repeats its step. A report is identified by ``trial``, ``run`` and ``key``. ``reported_at_ms``: by the
    reporting process's clock, in milliseconds since 1970.
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
    """Run ``run`` of a trial repeats what earlier runs did: from now on their points count up to ``after_step``
    (below 0: none of them counts).
    """

    trial: str
    run: int
    after_step: float


class MetricUpdate(NamedTuple):
    """What came: a point or a supersession. ``position``: continue after it to miss nothing."""

    position: str
    point: MetricPoint | None
    superseded: SupersededPoints | None


def follow_metrics(
    api: Api, task: str, after: str, group: str, patience_s: float
) -> Iterator[MetricUpdate]:
    """``Client.follow_metrics``."""
    kind = "trials" if "." in task else "experiments"
    path = f"/api/v1/{kind}/{segment(task)}/metrics:follow"
    position = after
    backoff = Backoff(BACKOFF_FIRST_S, BACKOFF_MAX_S)
    end_s = time.monotonic() + patience_s
    while True:
        opened = False
        query = {"after": position, "group": group}
        given = urlencode({name: value for name, value in query.items() if value})
        try:
            with api.stream(f"{path}?{given}" if given else path) as response:
                opened = True
                for kind_of_event, message in _events(response):
                    if kind_of_event == "end":
                        return
                    if kind_of_event == "problem":
                        raise error_of(int(message.get("status") or 500), message)
                    position = str(message["position"])
                    backoff.reset()
                    update = _update_of(message)
                    if update.point is not None or update.superseded is not None:
                        yield update
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
            raise PlatformAwayError(f"GET {path}: {why}")
        time.sleep(wait_s)


def _events(response: BinaryIO) -> Iterator[tuple[str, dict[str, Any]]]:
    """Server-sent events: the type and the object of each. Ends with the connection; an event that was cut
    off in the middle is left out.
    """
    kind, data = "message", ""
    for raw in response:
        line = raw.decode("utf-8").rstrip("\r\n")
        if line.startswith("event:"):
            kind = line[6:].strip()
        elif line.startswith("data:"):
            data += line[5:].strip()
        elif not line:
            if data:
                yield kind, json.loads(data)
            kind, data = "message", ""


def _update_of(message: Mapping[str, Any]) -> MetricUpdate:
    point, superseded = message.get("point"), message.get("superseded")
    return MetricUpdate(
        str(message["position"]),
        None if point is None else _point_of(point),
        None
        if superseded is None
        else SupersededPoints(
            str(superseded["trial"]),
            int(superseded.get("run") or 0),
            number_of(superseded.get("afterStep") or 0),
        ),
    )


def _point_of(message: Mapping[str, Any]) -> MetricPoint:
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
