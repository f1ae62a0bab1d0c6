"""Subscriptions and webhooks, with their fields as of the request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, ClassVar, NamedTuple, Union

from ._api import Api, number_of, segment
from ._events import Event, place_of, read_events
from ._shown import Listing, Shown, text_of, time_of

PATH = "/api/v1/subscriptions"

Duration = Union[timedelta, float, None]


def duration_ms_of(name: str, duration: Duration) -> float | None:
    """Returns a duration in milliseconds. ``duration`` is a timedelta or a number of seconds. Raises ValueError for
    anything else.
    """
    if duration is None:
        return None
    if isinstance(duration, timedelta):
        return duration.total_seconds() * 1000.0
    if isinstance(duration, bool) or not isinstance(duration, (int, float)):
        raise ValueError(f"{name} must be a timedelta or a number of seconds, not {duration!r}")
    return duration * 1000.0


class DeliveryAttempt(NamedTuple):
    """One attempt to send an event to a webhook: ``at_ms`` (milliseconds since 1970), ``took_ms``, ``status`` (of the
    answer; None if there was none), ``error`` (why there was no answer; empty otherwise), ``answer`` (its beginning;
    empty for a receiver in a private network) and ``request`` (the body that was sent, its secrets masked).
    """

    at_ms: float
    took_ms: float
    status: int | None
    error: str
    answer: str
    request: str


class Delivery(Shown):
    """An event that was sent to a webhook, or will be: ``event`` (its id, which is the ``webhook-id``), ``type``,
    ``subject``, ``sequence`` (its position in the log), ``state`` (WAITING, DELIVERED or FAILED), ``next_at_ms`` (the
    next attempt, in milliseconds since 1970; None if there is none) and ``attempts`` (those of the last week, the
    latest first).
    """

    _shown: ClassVar = ("event", "type", "subject", "state", "next_at_ms")

    def __init__(self, message: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.event = str(message["event"])
        self.type = text_of(message, "type")
        self.subject = text_of(message, "subject")
        self.sequence = int(message.get("sequence") or 0)
        self.state = text_of(message, "state")
        self.next_at_ms = time_of(message, "nextAtMs")
        self.attempts = [_attempt_of(one) for one in message.get("attempts") or []]


class NatsAccess(Shown):
    """How a program receives a subscription over NATS: ``user``, ``password``, ``subject`` (of the events) and
    ``configuration`` (the user as an entry of the configuration of a NATS server that you run yourself).
    """

    # The password is in the configuration, too.
    _shown: ClassVar = ("user", "subject")

    def __init__(self, message: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.user = text_of(message, "user")
        self.password = text_of(message, "password")
        self.subject = text_of(message, "subject")
        self.configuration = text_of(message, "configuration")


class Subscription(Shown):
    """A named reader of the events, whose place the platform keeps: ``name``, ``delivery`` (pull, nats or webhook;
    kafka for the operator's sink), ``state`` (ACTIVE; STOPPED, when its token ended; or DISABLED), ``reason`` (why it
    is not active), ``filter`` (the API's object), ``owner``, ``token`` (the id of the token by which it reads),
    ``created_at_ms``, ``position`` (the acknowledged place), ``acknowledged_at_ms`` (None before the first
    acknowledgement), ``lag_events`` and ``lag_s`` (the events of the log after the position, and the age of the first
    of them in seconds), ``last_error`` (of the latest delivery; empty if that succeeded), ``last_error_at_ms``,
    ``expires_after_s`` (None for never) and ``webhook`` (the API's object with its settings, its URL up to the host,
    the names of its headers and the number of waiting deliveries; None for other deliveries). Times are milliseconds
    since 1970.

    ``secret`` (the signing secret of a webhook; empty for other deliveries) and ``nats`` (the access of a NATS
    client; None for other deliveries) are present only after the call that created the subscription.
    """

    _shown: ClassVar = ("name", "delivery", "state", "lag_events", "lag_s", "last_error")
    _shown_alone: ClassVar = ("reason", "owner", "position", "filter", "expires_after_s")

    def __init__(
        self,
        api: Api,
        message: Mapping[str, Any],
        secret: str = "",
        nats: NatsAccess | None = None,
    ) -> None:
        super().__init__(message)
        self._api = api
        self.name = str(message["name"])
        self.delivery = text_of(message, "delivery")
        self.state = text_of(message, "state")
        self.reason = text_of(message, "reason")
        self.filter: dict[str, Any] = dict(message.get("filter") or {})
        self.owner = text_of(message, "owner")
        self.token = text_of(message, "token")
        self.created_at_ms = time_of(message, "createdAtMs")
        self.position = text_of(message, "position")
        self.acknowledged_at_ms = time_of(message, "acknowledgedAtMs")
        self.lag_events = int(message.get("lagEvents") or 0)
        self.lag_s = number_of(message.get("lagSeconds") or 0)
        self.last_error = text_of(message, "lastError")
        self.last_error_at_ms = time_of(message, "lastErrorAtMs")
        expires_after_ms = time_of(message, "expiresAfterMs")
        self.expires_after_s = None if not expires_after_ms else expires_after_ms / 1000
        self.webhook: dict[str, Any] | None = message.get("webhook")
        self.secret = secret
        self.nats = nats
        self._last_ack = ""

    def reload(self) -> Subscription:
        """Requests the current values."""
        return Subscription(self._api, self._api.get(self._path))

    def events(self, ack: bool = False, follow: bool = True) -> Iterator[Event]:
        """Yields the events of a pull subscription after the acknowledged position, each once, in the order of the
        log. With ``ack``, an event is acknowledged when the loop asks for the next one; otherwise call ``ack``. Where
        nothing matches, the position moves with the stream, once all events before were acknowledged. Without
        ``follow``, the iterator ends at the log's end.

        A broken connection is reopened. Raises ApiError ``not_pulled`` for another delivery, ``subscription_stopped``
        when the subscription is no longer active, ``position_unknown`` (status 410) if the log was restored and no
        longer has the position, and PlatformAwayError if reconnecting fails for ``patience_s`` seconds.
        """
        yielded = ""
        query = [("subscription", self.name)]
        for place, event in read_events(self._api, query, "", None, follow):
            if event is not None:
                yield event
                yielded = place
                if ack:
                    self.ack(event)
            elif yielded in ("", self._last_ack):
                yielded = ""
                self.ack(place)

    def ack(self, place: Event | int | str) -> str:
        """Moves the acknowledged position of a pull subscription forward to an event, a place of the stream or a
        position in the log: no event up to there comes again. Returns the position, which is later if another reader
        was ahead.
        """
        text = place_of(place)
        answer = self._verb("ack", {"position": text})
        self._last_ack = text
        return str(answer["position"])

    def adopt(self) -> Subscription:
        """Continues the subscription with the token of this client, after its own token ended."""
        return self._changed("adopt", {})

    def disable(self, reason: str = "") -> Subscription:
        """Delivers nothing until it is enabled; the position stays."""
        return self._changed("disable", {"reason": reason})

    def enable(self) -> Subscription:
        """Delivers again, from the position."""
        return self._changed("enable", {})

    def delete(self) -> None:
        """Deletes the subscription and its position."""
        self._api.call("DELETE", self._path)

    def test(self) -> DeliveryAttempt:
        """Sends a test event to the webhook at once, and returns the attempt, which is not repeated."""
        return _attempt_of(self._verb("test", {}))

    def rotate_secret(self, old_for: Duration = None, secret: str = "") -> str:
        """Gives the webhook a new signing secret, and returns it. The old one signs, too, for ``old_for`` (a timedelta
        or a number of seconds; None for a day). The platform draws the secret unless it is given. Raises ValueError
        for another ``old_for``.
        """
        old_for_ms = duration_ms_of("old_for", old_for)
        body = {"secret": secret, **({} if old_for_ms is None else {"oldForMs": old_for_ms})}
        return str(self._verb("rotate", body)["secret"])

    def deliveries(self, state: str = "") -> Listing[Delivery]:
        """Returns what was sent to the webhook in the last week and what waits, the newest event first: all, or those
        in a state (WAITING, DELIVERED or FAILED).
        """
        items = self._api.pages(f"{self._path}/deliveries", [("state", state)])
        return Listing(Delivery(item) for item in items)

    def redeliver(self, event: Delivery | Event | str) -> None:
        """Sends an event to the webhook once more, with the same ``webhook-id``. A text is the event's id."""
        of = event.event if isinstance(event, Delivery) else event
        name = of.id if isinstance(of, Event) else of
        self._api.call("POST", f"{self._path}/deliveries/{segment(name)}:redeliver", {})

    @property
    def _path(self) -> str:
        return f"{PATH}/{segment(self.name)}"

    def _verb(self, verb: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return self._api.call("POST", f"{self._path}:{verb}", body)

    def _changed(self, verb: str, body: Mapping[str, Any]) -> Subscription:
        return Subscription(self._api, self._verb(verb, body)["subscription"])


def created(api: Api, answer: Mapping[str, Any]) -> Subscription:
    """Returns the subscription of a creation, with its secrets."""
    nats = answer.get("nats")
    access = None if nats is None else NatsAccess(nats)
    return Subscription(api, answer["subscription"], text_of(answer, "secret"), access)


def _attempt_of(message: Mapping[str, Any]) -> DeliveryAttempt:
    status = message.get("status")
    return DeliveryAttempt(
        at_ms=number_of(message.get("atMs") or 0),
        took_ms=number_of(message.get("tookMs") or 0),
        status=None if status is None else int(status),
        error=text_of(message, "error"),
        answer=text_of(message, "answer"),
        request=text_of(message, "request"),
    )
