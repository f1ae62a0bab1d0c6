"""What a script may ask before it opens its run."""

from __future__ import annotations

import os
import unittest
from unittest import mock

import trainyard

TASK = {
    "TRAINYARD_TRIAL_ID": "12.3",
    "TRAINYARD_EXPERIMENT_ID": "12",
    "TRAINYARD_RUN": "2",
    "TRAINYARD_TRIAL_SEED": "7",
    "TRAINYARD_HPARAMS": '{"lr": 0.1}',
    "TRAINYARD_CONFIG": '{"data": {"folder": "pictures"}}',
    "TRAINYARD_LATEST_CHECKPOINT": "4f0c",
    "TRAINYARD_SLOT_IDS": "0,1",
    "TRAINYARD_NODE_RANK": "1",
    "TRAINYARD_RUN_DIR": "run",
}


class ClusterInfo(unittest.TestCase):
    def test_in_a_task(self):
        with mock.patch.dict(os.environ, TASK, clear=True):
            info = trainyard.get_cluster_info()
        self.assertEqual((info.trial.trial_id, info.trial.experiment_id), ("12.3", 12))
        self.assertEqual((info.trial.trial_seed, info.trial.hparams), (7, {"lr": 0.1}))
        self.assertEqual((info.latest_checkpoint, info.slot_ids), ("4f0c", ("0", "1")))
        self.assertEqual((info.container_rank, info.task_type), (1, "TRIAL"))
        self.assertEqual(info.user_data, {"folder": "pictures"})

    def test_in_a_task_that_begins(self):
        environment = {**TASK, "TRAINYARD_LATEST_CHECKPOINT": "", "TRAINYARD_CONFIG": "{}"}
        with mock.patch.dict(os.environ, environment, clear=True):
            info = trainyard.get_cluster_info()
        self.assertIsNone(info.latest_checkpoint)
        self.assertEqual(info.user_data, {})

    def test_outside_of_a_task(self):
        with mock.patch.dict(os.environ, {}, clear=True):
            self.assertIsNone(trainyard.get_cluster_info())

    def test_in_half_a_task(self):
        with mock.patch.dict(os.environ, {"TRAINYARD_TRIAL_ID": "12.3"}, clear=True):
            with self.assertRaisesRegex(trainyard.NotInTaskError, "the agent sets both"):
                trainyard.get_cluster_info()


if __name__ == "__main__":
    unittest.main()
