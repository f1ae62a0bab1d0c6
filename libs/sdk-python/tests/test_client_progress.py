"""Tests of the progress and the times of experiments and trials."""

from __future__ import annotations

import unittest
from typing import Any
from unittest import mock

from test_client_trials import ReadingTest

from trainyard.client._progress import duration_text, left_text, percent_text

NOW_S = 1_000.0
RUNNING: dict[str, Any] = {
    "id": "12",
    "name": "iris",
    "state": "ACTIVE",
    "progress": 0.379,
    "createdAtMs": 400_000,
    "ranMs": 120_000,
    "runningSinceMs": 940_000,
    "estimatedEndAtMs": 1_250_000,
}
ENDED: dict[str, Any] = {
    "id": "12.3",
    "state": "COMPLETED",
    "progress": 1,
    "createdAtMs": 400_000,
    "endedAtMs": 490_000,
    "ranMs": 60_000,
    "warning": "no value of loss was reported",
}
at_now = mock.patch("trainyard.client._progress.time.time", return_value=NOW_S)


class ClientProgressTest(ReadingTest):
    def test_a_running_experiment_has_its_elapsed_and_running_time_and_about_the_time_left(
        self,
    ) -> None:
        self.answers["experiments/12"] = RUNNING
        with at_now:
            experiment = self.client.get_experiment(12)
        self.assertEqual(
            (experiment.progress, experiment.elapsed_s, experiment.ran_s, experiment.left_s),
            (0.379, 600, 180, 250),
        )
        self.assertEqual(experiment.estimated_end_at_ms, 1_250_000)
        self.assertIn("progress=0.379, elapsed_s=600, left_s=250", repr(experiment))
        html = experiment._repr_html_()
        self.assertIn("<th>progress</th><td>37%</td>", html)
        self.assertIn("<th>elapsed_s</th><td>10m</td>", html)
        self.assertIn("<th>left_s</th><td>about 4m</td>", html)

    def test_an_ended_trial_has_no_time_left_and_its_warning(self) -> None:
        self.answers["trials/12.3"] = ENDED
        with at_now:
            trial = self.client.get_trial("12.3")
        self.assertEqual((trial.elapsed_s, trial.ran_s, trial.left_s), (90, 60, None))
        self.assertEqual(trial.metric_warning, "no value of loss was reported")
        self.assertIn("<th>left_s</th><td></td>", trial._repr_html_())
        self.assertIn("<td>no value of loss was reported</td>", trial._repr_html_())
        self.assertRegex(repr(trial), "metric_warning='no value of loss was reported'\\)$")

    def test_an_estimate_that_is_over_says_nothing(self) -> None:
        self.answers["experiments/12"] = {**RUNNING, "estimatedEndAtMs": 999_000}
        with at_now:
            self.assertIsNone(self.client.get_experiment(12).left_s)


class TextTest(unittest.TestCase):
    def test_a_share_and_a_duration_have_the_texts_of_yard(self) -> None:
        self.assertEqual(
            [percent_text(share) for share in (0, 0.29, 0.999, 1)], ["0%", "29%", "99%", "100%"]
        )
        self.assertEqual(
            [duration_text(s) for s in (0, 61, 3_600, 90_061)], ["0s", "1m 1s", "1h", "1d 1h 1m 1s"]
        )
        self.assertEqual([left_text(s) for s in (None, 0, 59, 3_661)], ["", "", "59s", "1h"])


if __name__ == "__main__":
    unittest.main()
