"""Tests of ``client.watch`` with a fake gateway."""

from __future__ import annotations

import json
import unittest
from typing import Any

from test_client import Gateway

from trainyard import client
from trainyard.client import Bookmark, Change, Lines, Points, Reset


def frame(kind: str, head: str = "", **content: Any) -> bytes:
    head = f"id: {head}\n" if head else ""
    return f"{head}data: {json.dumps({kind: content})}\n\n".encode()


OPENED = frame("opened", "c0", topics=["a", "b", "a"])


class WatchTest(unittest.TestCase):
    def setUp(self) -> None:
        self.gateway = Gateway()
        self.addCleanup(self.gateway.stop)
        self.client = client.Client(self.gateway.url, "t", patience_s=1.0)
        self.addCleanup(self.client.close)
        self.answers: list[tuple[int, Any]] = []
        self.gateway.answer = lambda method, path: (
            self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        )
        self.topics = [{"kind": "experiments"}, {"kind": "agents"}, {"kind": "experiments"}]

    def test_watch_events_have_the_index_of_their_topic(self) -> None:
        stream = OPENED + frame("change", topic="a", id="7", experiment={"id": "7"})
        stream += frame("gone", topic="b", id="gpu-1") + frame("reset", topic="b", reason="x")
        stream += frame("bookmark", "c1", cursor="c1") + frame("reset", topic="", reason="y")
        self.answers = [(200, stream + b"event: end\ndata: {}\n\n")]
        seven = {"id": "7"}
        self.assertEqual(
            list(self.client.watch(self.topics)),
            [
                Change(0, "7", seven),
                Change(2, "7", seven),
                Change(1, "gpu-1", None),
                Reset(1, "x"),
                Bookmark("c1"),
                Reset(None, "y"),
            ],
        )
        method, path, body, _, _ = self.gateway.asked[0]
        self.assertEqual((method, path), ("POST", "/api/v1/watch"))
        self.assertEqual(body, {"topics": self.topics, "after": ""})

    def test_watch_continues_after_the_last_bookmark_when_the_stream_breaks(self) -> None:
        gone = frame("gone", topic="a", id="8")
        self.answers = [
            (200, OPENED + frame("bookmark", "c1", cursor="c1") + gone[:-9]),
            (503, {"code": "unavailable"}),
            (200, OPENED + gone + b"event: end\ndata: {}\n\n"),
        ]
        events = list(self.client.watch(self.topics[:1], after="c0"))
        self.assertEqual(events[0], Bookmark("c1"))
        self.assertEqual(events[1:], [Change(0, "8", None), Change(2, "8", None)])
        self.assertEqual(
            [body["after"] for _, _, body, _, _ in self.gateway.asked], ["c0", "c1", "c1"]
        )

    def test_points_and_lines_come_once_when_the_stream_breaks(self) -> None:
        point = {
            "trial": "7.1",
            "run": 1,
            "group": "training",
            "metrics": {"loss": 0.5},
            "key": "0-1",
        }
        superseded = {"trial": "7.1", "run": 2, "afterStep": 400}
        items = [{"position": "3", "point": point}, {"position": "4", "superseded": superseded}]
        line = {"trial": "7.1", "run": 1, "rank": 0, "atMs": 5, "text": "hello", "cursor": "9"}
        self.answers = [
            (200, OPENED + frame("points", "c1", topic="b", items=items)),
            (200, OPENED + frame("lines", "c2", topic="a", items=[line])),
            (200, OPENED + b"event: end\ndata: {}\n\n"),
        ]
        events = list(self.client.watch(self.topics))
        self.assertEqual([type(event) for event in events], [Points, Lines, Lines])
        self.assertEqual(
            [event.topic for event in events if not isinstance(event, Bookmark)], [1, 0, 2]
        )
        points, lines = events[:2]
        assert isinstance(points, Points) and isinstance(lines, Lines)
        first, second = points.items
        assert first.point is not None and second.superseded is not None
        self.assertEqual((first.position, first.point.metrics), ("3", {"loss": 0.5}))
        self.assertEqual((second.position, second.superseded.after_step), ("4", 400.0))
        self.assertEqual((lines.items[0].text, lines.items[0].rank), ("hello", 0))
        self.assertEqual(
            [body["after"] for _, _, body, _, _ in self.gateway.asked], ["", "c1", "c2"]
        )

    def test_list_events_requests_all_pages(self) -> None:
        self.answers = [
            (200, {"items": [{"id": "b"}], "nextPageToken": "more"}),
            (200, {"items": [{"id": "a"}], "nextPageToken": ""}),
        ]
        events = self.client.list_events("experiment", 12, types=["A", "B"], from_ms=5)
        self.assertEqual([event["id"] for event in events], ["b", "a"])
        first, second = (query for _, _, _, query, _ in self.gateway.asked)
        self.assertEqual((first["object"], first["id"]), (["experiment"], ["12"]))
        self.assertEqual((first["types"], first["fromMs"]), (["A", "B"], ["5.0"]))
        self.assertEqual(second["pageToken"], ["more"])

    def test_watch_raises_if_the_platform_refuses_a_topic(self) -> None:
        self.answers = [
            (400, {"code": "invalid_request", "detail": "topics[0].filter, column 1: no"})
        ]
        with self.assertRaisesRegex(client.ApiError, "column 1"):
            list(self.client.watch(self.topics))


if __name__ == "__main__":
    unittest.main()
