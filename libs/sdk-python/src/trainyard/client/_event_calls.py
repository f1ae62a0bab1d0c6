"""The part of ``Client`` that reads events and subscribes to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ._api import segment
from ._events import Event, filter_of, place_of, query_of, read_events
from ._logs import Time, ms_of
from ._shown import Listing
from ._subscriptions import PATH, Duration, Subscription, created, duration_ms_of
from ._tasks import TaskCalls


class EventCalls(TaskCalls):
    """The calls about events. See ``Client``."""

    def events(
        self,
        types: str | Sequence[str] = (),
        object: str = "",
        id: int | str = "",
        experiment: int | str = "",
        workspace: str = "",
        label: str = "",
        where: Mapping[str, Any] | None = None,
        *,
        after: Event | int | str = "",
        from_time: Time = None,
        follow: bool = True,
    ) -> Iterator[Event]:
        """Yields the events that match every given part of the filter, each once, in the order of the log: those of
        the past, then new ones; without ``follow`` until the log's end.

        ``types`` are event types, such as ``"ExperimentEnded"``. ``object`` and ``id`` select the streams of one
        object (``"experiment", 12``; ``"trial", "12.3"``; ``"run", "12.3#1"``), ``experiment`` its own events and
        those of its search, trials and runs, ``workspace`` and ``label`` the events of experiments that have them
        now. ``where`` has values of scalar fields of the body: ``{"outcome": "FAILED"}``.

        The events begin after ``after`` (an event, its ``place``, or a position in the log), or at ``from_time`` (a
        datetime, an ISO 8601 text, or seconds since 1970); by default with the first one of the log.

        A broken connection is reopened. Raises ApiError for a filter or a token that the platform refuses, and
        ``position_unknown`` (status 410) if the log was restored and no longer has the place; PlatformAwayError if
        reconnecting fails for ``patience_s`` seconds.
        """
        query = query_of(filter_of(types, object, id, experiment, workspace, label, where))
        from_ms = ms_of("from_time", from_time)
        if place_of(after) and from_ms is not None:
            raise ValueError("after and from_time exclude each other")
        places = read_events(self._api, query, place_of(after), from_ms, follow)
        return (event for _, event in places if event is not None)

    def list_events(
        self,
        object: str = "",
        id: int | str = "",
        types: Sequence[str] = (),
        from_ms: float | None = None,
        until_ms: float | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yields events as the API shows them, newest first: all events, or those of one object's streams
        (``"experiment", 12``; ``"trial", "12.3"``; ``"run", "12.3#1"``; ``"checkpoint"``, ``"model"``,
        ``"agent"``, …).

        ``types`` are event types, such as ``"ExperimentPaused"``. Times are milliseconds since 1970; ``until_ms``
        is excluded.
        """
        query = [("object", object), ("id", str(id)), *(("types", name) for name in types)]
        bounds = (("fromMs", from_ms), ("untilMs", until_ms))
        query += [(name, repr(float(ms))) for name, ms in bounds if ms is not None]
        return self._api.pages("/api/v1/events:list", query)

    def create_subscription(
        self,
        name: str,
        delivery: str = "pull",
        types: str | Sequence[str] = (),
        object: str = "",
        id: int | str = "",
        experiment: int | str = "",
        workspace: str = "",
        label: str = "",
        where: Mapping[str, Any] | None = None,
        *,
        after: Event | int | str = "",
        from_time: Time = None,
        expires_after: Duration = None,
        url: str = "",
        headers: Mapping[str, str] | None = None,
        secret: str = "",
        format: str = "standard",
        log_pattern: str = "",
        queue_wait: Duration = None,
        named_only: bool = False,
    ) -> Subscription:
        """Creates a subscription. ``name`` has 1 to 63 lower-case letters, digits, hyphens and underscores.
        ``delivery`` is pull (a program reads ``events()``), nats or webhook. The filter, ``after`` and ``from_time``
        are those of ``events``, but by default the events begin with the next one. The subscription is deleted when
        nothing was acknowledged for ``expires_after`` (a timedelta or a number of seconds, at least a minute; None for
        never).

        The other arguments are for webhooks: ``url``, ``headers`` (more headers of each request), ``secret`` (that
        signs; drawn if empty), ``format`` (standard, slack, discord or determined), ``log_pattern`` (a regular
        expression in RE2's syntax: also once for each run and node with a log line that matches), ``queue_wait`` (also
        once for each run that waits longer) and ``named_only`` (only experiments whose configuration names the
        webhook).

        ``secret`` and ``nats`` of the result have the signing secret, and the access of a NATS client; no other call
        returns them. Raises ApiError for a name that exists, and for a filter or a URL that the platform refuses;
        ValueError for a time or a duration that is none.
        """
        from_ms = ms_of("from_time", from_time)
        expires_after_ms = duration_ms_of("expires_after", expires_after)
        queue_wait_ms = duration_ms_of("queue_wait", queue_wait)
        body: dict[str, Any] = {
            "name": name,
            "delivery": delivery,
            "filter": filter_of(types, object, id, experiment, workspace, label, where),
            "after": place_of(after),
            **({} if from_ms is None else {"fromMs": from_ms}),
            **({} if expires_after_ms is None else {"expiresAfterMs": expires_after_ms}),
        }
        if delivery == "webhook" or url:
            waits = {} if queue_wait_ms is None else {"queueWaitMs": queue_wait_ms}
            settings = {
                "format": format,
                "logPattern": log_pattern,
                "namedOnly": named_only,
                **waits,
            }
            texts = {"url": url, "headers": dict(headers or {}), "secret": secret}
            body["webhook"] = {"settings": settings, **texts}
        return created(self._api, self._api.call("POST", PATH, body))

    def get_subscription(self, name: str) -> Subscription:
        """Returns the subscription with this name."""
        return Subscription(self._api, self._api.get(f"{PATH}/{segment(name)}"))

    def list_subscriptions(self, delivery: str = "") -> Listing[Subscription]:
        """Returns all subscriptions, or those of one delivery: pull, nats or webhook."""
        items = self._api.pages(PATH, [("delivery", delivery)])
        return Listing(Subscription(self._api, item) for item in items)
