"""Tests of the metrics frames of trials with the real pandas; they are skipped where it is not installed."""

from __future__ import annotations

import importlib
import importlib.util
import math

from test_client_metrics import point
from test_client_trials import TRIAL, ReadingTest


class MetricsFrameTest(ReadingTest):
    def setUp(self) -> None:
        if importlib.util.find_spec("pandas") is None:
            self.skipTest("pandas is not installed")
        super().setUp()

    def test_the_metrics_of_several_trials_are_one_frame_of_numbers(self) -> None:
        pandas = importlib.import_module("pandas")
        at = {"reportedAtMs": 1_790_000_000_000}
        points = [
            point("0-1", stepsCompleted=2, metrics={"loss": 0.5, "acc": "NaN"}, **at),
            point("0-2", stepsCompleted=4, metrics={"loss": 0.25}, **at),
            point("0-3", stepsCompleted=6, metrics={"loss": "Infinity"}, **at),
        ]
        self.answers["experiments/12/trials"] = {"items": [TRIAL, {**TRIAL, "id": "12.4"}]}
        for trial, items in (("12.3", points), ("12.4", [])):
            self.answers[f"trials/{trial}/metrics"] = {"items": items}
        trials = self.client.get_experiment(12).list_trials()
        frames = [trial.metrics_frame("validation") for trial in trials]
        columns = ["trial", "run", "group", "steps_completed", "reported_at_ms"]
        self.assertEqual(
            [list(frame.columns) for frame in frames], [[*columns, "loss", "acc"], columns]
        )
        every = pandas.concat(frames)
        self.assertEqual(every.groupby("trial").loss.min().to_dict(), {"12.3": 0.25})
        self.assertEqual(every.loss.dtype, float)
        self.assertTrue(math.isnan(every.acc.iloc[0]))
        self.assertEqual(every.loss.iloc[2], math.inf)
        self.assertEqual(pandas.to_datetime(every.reported_at_ms, unit="ms").iloc[0].year, 2026)
