"""Tests of ``client.follow_metrics`` and ``client.compare`` with a fake gateway."""

from __future__ import annotations

import json
import unittest
from typing import Any

from test_client import Gateway

from trainyard import client

GONE = {"code": "position_gone", "detail": "list them", "status": 410}


def event(position: int, **message: Any) -> bytes:
    text = json.dumps({"position": str(position), **message})
    return f"id: {position}\ndata: {text}\n\n".encode()


def point(key: str, **more: Any) -> dict[str, Any]:
    values = {"trial": "12.3", "run": 1, "group": "training", "stepsCompleted": 2, "key": key}
    return {**values, "metrics": {"loss": 0.5, "acc": "NaN"}, "others": {"note": "x"}, **more}


END = b"event: end\ndata: {}\n\n"


class FollowMetricsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.gateway = Gateway()
        self.addCleanup(self.gateway.stop)
        self.client = client.Client(self.gateway.url, "t", patience_s=1.0)
        self.addCleanup(self.client.close)
        self.answers: list[tuple[int, Any]] = []
        self.gateway.answer = lambda method, path: (
            self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        )

    def asked(self) -> list[tuple[str, list[str]]]:
        return [(path, query.get("after", [])) for _, path, _, query, _ in self.gateway.asked]

    def test_follow_metrics_yields_points_and_supersessions_with_their_positions(self) -> None:
        superseded = {"trial": "12.3", "run": 2, "afterStep": -1}
        stream = b": trainyard\n\n" + event(4) + event(5, point=point("0-1"))
        self.answers = [(200, stream + event(6, superseded=superseded) + END)]
        first, second = list(self.client.follow_metrics("12"))
        assert first.point is not None
        self.assertEqual((first.position, first.point.key, first.point.run), ("5", "0-1", 1))
        self.assertEqual(first.point.metrics["loss"], 0.5)
        self.assertNotEqual(first.point.metrics["acc"], first.point.metrics["acc"])
        self.assertEqual(first.point.others, {"note": "x"})
        self.assertEqual(second, ("6", None, ("12.3", 2, -1.0)))
        self.assertEqual(self.asked(), [("/api/v1/experiments/12/metrics:follow", [])])

    def test_follow_metrics_continues_after_the_last_position_when_the_stream_breaks(self) -> None:
        problem = b'event: problem\ndata: {"status": 503, "code": "reader_too_slow"}\n\n'
        half = event(8, point=point("0-3"))[:-5]
        self.answers = [
            (200, event(6, point=point("0-1")) + half),
            (503, {"code": "unavailable"}),
            (200, event(7, point=point("0-2")) + event(9) + problem),
            (200, event(10, point=point("0-4")) + END),
        ]
        updates = list(self.client.follow_metrics("12.3", after="5", group="training"))
        keys = [update.point.key for update in updates if update.point is not None]
        self.assertEqual(keys, ["0-1", "0-2", "0-4"])
        path = "/api/v1/trials/12.3/metrics:follow"
        self.assertEqual(self.asked(), [(path, [after]) for after in ("5", "6", "6", "9")])

    def test_follow_metrics_raises_if_the_position_is_no_longer_available(self) -> None:
        self.answers = [(410, GONE)]
        with self.assertRaises(client.ApiError) as raised:
            list(self.client.follow_metrics("12", after="5"))
        self.assertEqual(raised.exception.code, "position_gone")
        stream = event(6, point=point("0-1")) + b"event: problem\ndata: "
        self.answers = [(200, stream + json.dumps(GONE).encode() + b"\n\n")]
        updates = self.client.follow_metrics("12", after="5")
        self.assertEqual(next(updates).position, "6")
        with self.assertRaisesRegex(client.ApiError, "list them"):
            next(updates)

    def test_follow_metrics_raises_if_the_platform_stays_unavailable(self) -> None:
        self.answers = [(200, event(6)), (503, {"code": "unavailable"})]
        with self.assertRaises(client.PlatformAwayError):
            list(self.client.follow_metrics("12"))

    def test_compare_has_trials_their_shared_metrics_and_what_is_gone(self) -> None:
        answer = {
            "trials": [{"id": "12.3"}, {"id": "13.1"}],
            "metrics": [{"group": "training", "name": "loss", "trials": 2}],
            "gone": [{"source": "14.all", "reason": "there is no experiment 14"}],
        }
        self.answers = [(200, answer)]
        trials, metrics, gone = self.client.compare(["12.3", "13.best", "14.all"])
        self.assertEqual([trial.id for trial in trials], ["12.3", "13.1"])
        self.assertEqual(metrics, [client.SharedMetric("training", "loss", 2)])
        self.assertEqual(gone, {"14.all": "there is no experiment 14"})
        _, path, _, query, _ = self.gateway.asked[0]
        self.assertEqual(path, "/api/v1/trials:compare")
        self.assertEqual(query, {"sources": ["12.3", "13.best", "14.all"]})


if __name__ == "__main__":
    unittest.main()
