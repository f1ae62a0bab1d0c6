"""Tests of ``client.events`` and of subscriptions with a fake gateway."""

from __future__ import annotations

import json
import time
import unittest
from datetime import datetime, timedelta, timezone
from typing import Any

from test_client import Gateway

from trainyard import client

END = b"event: end\ndata: {}\n\n"
TYPE = "dev.trainyard.experiment.ExperimentEnded.v1"


def event_of(position: int, **more: Any) -> dict[str, Any]:
    return {
        "specversion": "1.0",
        "id": f"e{position}",
        "type": TYPE,
        "subject": "experiment-12",
        "sequence": str(position),
        "epoch": "1",
        "streamversion": "3",
        "data": {"outcome": "FAILED"},
        **more,
    }


def block(position: int) -> bytes:
    return f"id: {position}:e{position}\ndata: {json.dumps(event_of(position))}\n\n".encode()


def place(position: int) -> bytes:
    return f"id: {position}:p{position}\n\n".encode()


def refusal(status: int, code: str, detail: str) -> tuple[int, Any]:
    return status, {"status": status, "code": code, "detail": detail}


class Played(unittest.TestCase):
    def setUp(self) -> None:
        self.gateway = Gateway()
        self.addCleanup(self.gateway.stop)
        self.client = client.Client(self.gateway.url, "t", patience_s=5.0)
        self.addCleanup(self.client.close)

    def play(self, *streams: bytes | tuple[int, Any], **calls: Any) -> None:
        """Answers the requests of streams one after the other, and other calls by the last part of the path."""
        left = list(streams)

        def answer(method: str, path: str) -> tuple[int, Any]:
            if path == "/api/v1/events":
                stream = left.pop(0)
                return stream if isinstance(stream, tuple) else (200, stream)
            return 200, calls[path.rsplit("/", 1)[1].replace(":", "_")]

        self.gateway.answer = answer

    def streams(self) -> list[dict[str, list[str]]]:
        """The parameters of the requests of streams."""
        return [query for _, path, _, query, _ in self.gateway.asked if path == "/api/v1/events"]

    def bodies(self) -> list[tuple[str, str, Any]]:
        """The calls beside the streams."""
        return [asked[:3] for asked in self.gateway.asked if asked[1] != "/api/v1/events"]


class EventsTest(Played):
    def test_an_event_has_the_names_of_cloudevents_and_its_place(self) -> None:
        self.play(b": trainyard\n\n" + block(7) + END)
        [event] = self.client.events("ExperimentEnded", follow=False)
        self.assertEqual((event.id, event.type, event.subject), ("e7", TYPE, "experiment-12"))
        self.assertEqual((event.sequence, event.epoch, event.streamversion), (7, "1", 3))
        self.assertEqual((event.name, event.place), ("ExperimentEnded", "7:e7"))
        self.assertEqual(event.data, {"outcome": "FAILED"})
        self.assertEqual(event.as_json(), event_of(7))
        self.assertIn("ExperimentEnded", repr(event))

    def test_the_parameters_select_and_begin(self) -> None:
        self.play(END, END, END)
        begin = datetime(2026, 11, 29, tzinfo=timezone.utc)
        list(
            self.client.events(
                ["A", "B"], "run", "12.3#1", 12, "lab", "x", {"a": 1, "b": True}, from_time=begin
            )
        )
        list(self.client.events(object="experiment", id=12, after=0, follow=False))
        list(self.client.events(after=client.Event(self.client._api, event_of(7), "7:e7")))
        first, second, third = self.streams()
        self.assertEqual(
            first,
            {
                "types": ["A", "B"],
                "object": ["run"],
                "id": ["12.3#1"],
                "experiment": ["12"],
                "workspace": ["lab"],
                "label": ["x"],
                "where": ["a=1", "b=true"],
                "fromMs": [repr(begin.timestamp() * 1000)],
            },
        )
        self.assertEqual(
            second, {"object": ["experiment"], "id": ["12"], "after": ["0"], "noFollow": ["true"]}
        )
        self.assertEqual(third, {"after": ["7:e7"]})
        with self.assertRaisesRegex(ValueError, "after and from_time exclude each other"):
            self.client.events(after=0, from_time=begin)

    def test_a_lost_connection_continues_after_the_last_id_with_and_without_an_event(self) -> None:
        self.play(b"", place(4), block(6) + place(9), block(11) + block(12)[:-9], block(12) + END)
        events = list(self.client.events(from_time=5))
        self.assertEqual([event.sequence for event in events], [6, 11, 12])
        starts = [(query.get("fromMs"), query.get("after")) for query in self.streams()]
        self.assertEqual(
            starts,
            [
                (["5000.0"], None),
                (["5000.0"], None),
                (None, ["4:p4"]),
                (None, ["9:p9"]),
                (None, ["11:e11"]),
            ],
        )

    def test_an_event_that_comes_again_is_yielded_once(self) -> None:
        self.play(block(6) + block(7) + block(7), block(6) + block(7) + block(8) + END)
        self.assertEqual([event.sequence for event in self.client.events()], [6, 7, 8])

    def test_the_stream_waits_as_long_as_the_platform_says(self) -> None:
        self.gateway.retry_after = "0.6"
        busy = refusal(429, "too_many_streams", "one caller has at most 100 such streams")
        away = refusal(503, "unavailable", "the log does not answer")
        self.play(busy, away, block(6) + END)
        begin_s = time.monotonic()
        self.assertEqual([event.sequence for event in self.client.events()], [6])
        self.assertGreaterEqual(time.monotonic() - begin_s, 1.2)

    def test_the_platforms_sentence_is_raised_when_waiting_is_too_long(self) -> None:
        self.gateway.retry_after = "30"
        self.play(refusal(429, "too_many_streams", "one caller has at most 100 such streams"))
        with self.assertRaisesRegex(client.PlatformAwayError, "at most 100 such streams"):
            next(self.client.events())

    def test_a_refusal_is_raised_with_its_sentence(self) -> None:
        for status, code in (
            (400, "invalid_filter"),
            (401, "unauthenticated"),
            (403, "forbidden"),
            (410, "position_unknown"),
        ):
            self.play(block(6), refusal(status, code, f"the sentence of {code}"))
            events = self.client.events()
            self.assertEqual(next(events).sequence, 6)
            with self.assertRaisesRegex(client.ApiError, f"^the sentence of {code}$") as raised:
                next(events)
            self.assertEqual((raised.exception.status, raised.exception.code), (status, code))

    def test_a_problem_within_the_stream_is_raised(self) -> None:
        status, body = refusal(410, "position_unknown", "the log ends before position 6")
        problem = f"event: problem\ndata: {json.dumps(body)}\n\n".encode()
        self.play(block(6) + problem)
        events = self.client.events()
        next(events)
        with self.assertRaisesRegex(client.ApiError, "ends before position 6") as raised:
            next(events)
        self.assertEqual(raised.exception.status, status)

    def test_reload_requests_a_body_that_was_left_out(self) -> None:
        short = {**event_of(6, dataref="/api/v1/events/6"), "data": None}
        self.play(f"id: 6:e6\ndata: {json.dumps(short)}\n\n".encode() + END, **{"6": event_of(6)})
        [event] = self.client.events()
        self.assertEqual((event.data, event.dataref), (None, "/api/v1/events/6"))
        whole = event.reload()
        self.assertEqual((whole.data, whole.place), ({"outcome": "FAILED"}, "6:e6"))


SUBSCRIPTION = {
    "name": "ends",
    "delivery": "pull",
    "state": "ACTIVE",
    "position": "5:e5",
    "lagEvents": 3,
    "lagSeconds": 1.5,
    "expiresAfterMs": 60_000,
}
ATTEMPT = {"atMs": 5, "tookMs": 2, "status": 204, "request": "{}"}
DELIVERY = {"event": "e6", "type": TYPE, "sequence": "6", "state": "FAILED", "attempts": [ATTEMPT]}


class SubscriptionsTest(Played):
    def subscription(self, *streams: bytes | tuple[int, Any], **calls: Any) -> client.Subscription:
        self.play(*streams, ends=SUBSCRIPTION, ends_ack={"position": "9:e9"}, **calls)
        subscription = self.client.get_subscription("ends")
        self.gateway.asked.clear()
        return subscription

    def acks(self) -> list[str]:
        return [body["position"] for _, path, body in self.bodies() if path.endswith(":ack")]

    def test_a_subscription_is_created_with_its_filter_and_start(self) -> None:
        self.play(subscriptions={"subscription": SUBSCRIPTION})
        made = self.client.create_subscription(
            "ends", types="ExperimentEnded", label="x", after=0, expires_after=timedelta(minutes=1)
        )
        self.assertEqual((made.name, made.lag_events, made.lag_s), ("ends", 3, 1.5))
        self.assertEqual((made.expires_after_s, made.secret, made.nats), (60.0, "", None))
        [(method, path, body)] = self.bodies()
        self.assertEqual((method, path), ("POST", "/api/v1/subscriptions"))
        self.assertEqual(
            (body["filter"]["types"], body["filter"]["label"]), (["ExperimentEnded"], "x")
        )
        self.assertEqual((body["delivery"], body["after"]), ("pull", "0"))
        self.assertEqual(body["expiresAfterMs"], 60_000.0)
        self.assertNotIn("webhook", body)

    def test_the_secrets_of_a_creation_are_not_shown(self) -> None:
        nats = {"user": "feed-ends", "password": "hidden", "subject": "ty.feed.ends"}
        answer = {"subscription": SUBSCRIPTION, "secret": "whsec_hidden", "nats": nats}
        self.play(subscriptions=answer)
        made = self.client.create_subscription(
            "ends", "webhook", url="https://a.example/hook", headers={"x": "y"}, queue_wait=60
        )
        assert made.nats is not None
        self.assertEqual((made.secret, made.nats.password), ("whsec_hidden", "hidden"))
        self.assertNotIn("hidden", f"{made!r} {made.nats!r} {made._repr_html_()}")
        webhook = self.bodies()[0][2]["webhook"]
        self.assertEqual(
            (webhook["url"], webhook["headers"]), ("https://a.example/hook", {"x": "y"})
        )
        self.assertEqual(webhook["settings"]["queueWaitMs"], 60_000)

    def test_a_duration_that_is_none_is_refused_in_one_sentence(self) -> None:
        soon: Any = "soon"
        with self.assertRaisesRegex(ValueError, "^expires_after must be a timedelta or a number"):
            self.client.create_subscription("ends", expires_after=soon)

    def test_events_are_acknowledged_when_the_loop_asks_for_the_next_one(self) -> None:
        subscription = self.subscription(place(5) + block(6) + block(7) + place(8) + END)
        events = subscription.events(ack=True)
        self.assertEqual(next(events).sequence, 6)
        self.assertEqual(self.acks(), ["5:p5"])
        self.assertEqual(next(events).sequence, 7)
        self.assertEqual(self.acks(), ["5:p5", "6:e6"])
        self.assertEqual(list(events), [])
        self.assertEqual(self.acks(), ["5:p5", "6:e6", "7:e7", "8:p8"])
        self.assertEqual(self.streams(), [{"subscription": ["ends"]}])

    def test_an_event_whose_loop_was_left_is_not_acknowledged(self) -> None:
        subscription = self.subscription(block(6) + block(7) + END)
        for _event in subscription.events(ack=True):
            break
        self.assertEqual(self.acks(), [])

    def test_places_move_the_position_only_once_all_events_were_acknowledged(self) -> None:
        subscription = self.subscription(
            place(4) + block(6) + place(7) + block(8) + place(9), block(10) + place(11) + END
        )
        for event in subscription.events():
            if event.sequence != 6:
                self.assertEqual(subscription.ack(event), "9:e9")
        self.assertEqual(self.acks(), ["4:p4", "8:e8", "9:p9", "10:e10", "11:p11"])
        self.assertEqual([query.get("after") for query in self.streams()], [None, ["9:p9"]])

    def test_a_stopped_subscription_raises_the_platforms_sentence(self) -> None:
        sentence = "the subscription ends has stopped: its token was revoked"
        subscription = self.subscription(refusal(409, "subscription_stopped", sentence))
        with self.assertRaisesRegex(client.ApiError, sentence):
            next(subscription.events())

    def test_the_verbs_of_a_subscription_call_the_platform(self) -> None:
        changed = {"subscription": {**SUBSCRIPTION, "state": "DISABLED"}}
        subscription = self.subscription(
            ends_adopt=changed,
            ends_disable=changed,
            ends_enable=changed,
            ends_test=ATTEMPT,
            ends_rotate={"secret": "whsec_new"},
            deliveries={"items": [DELIVERY]},
            e6_redeliver={},
        )
        self.assertEqual(subscription.adopt().state, "DISABLED")
        subscription.disable("a pause")
        subscription.enable()
        self.assertEqual(subscription.test().status, 204)
        self.assertEqual(subscription.rotate_secret(old_for=timedelta(hours=1)), "whsec_new")
        self.assertEqual(subscription.rotate_secret(), "whsec_new")
        [delivery] = subscription.deliveries("FAILED")
        self.assertEqual((delivery.event, delivery.sequence, delivery.state), ("e6", 6, "FAILED"))
        self.assertEqual(delivery.attempts[0].status, 204)
        for event in (delivery, client.Event(self.client._api, event_of(6), "6:e6"), "e6"):
            subscription.redeliver(event)
        subscription.reload()
        subscription.delete()
        path = "/api/v1/subscriptions/ends"
        again = ("POST", f"{path}/deliveries/e6:redeliver", {})
        self.assertEqual(
            self.bodies(),
            [
                ("POST", f"{path}:adopt", {}),
                ("POST", f"{path}:disable", {"reason": "a pause"}),
                ("POST", f"{path}:enable", {}),
                ("POST", f"{path}:test", {}),
                ("POST", f"{path}:rotate", {"secret": "", "oldForMs": 3_600_000.0}),
                ("POST", f"{path}:rotate", {"secret": ""}),
                ("GET", f"{path}/deliveries", None),
                again,
                again,
                again,
                ("GET", path, None),
                ("DELETE", path, None),
            ],
        )

    def test_subscriptions_are_listed(self) -> None:
        self.play(subscriptions={"items": [SUBSCRIPTION]})
        listed = self.client.list_subscriptions("pull")
        self.assertIn("ends", repr(listed))
        self.assertEqual(self.gateway.asked[0][3]["delivery"], ["pull"])


if __name__ == "__main__":
    unittest.main()
