"""The functions that a script may call before it opens its run."""

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
    def test_get_cluster_info_describes_the_task(self):
        with mock.patch.dict(os.environ, TASK, clear=True):
            info = trainyard.get_cluster_info()
        # The trial's id is a number, because scripts for Determined write it into a checkpoint and parse it with
        # int().
        self.assertEqual((info.trial.trial_id, info.trial.experiment_id), (120_000_003, 12))
        self.assertEqual((info.trial.trial_seed, info.trial.hparams), (7, {"lr": 0.1}))
        self.assertEqual((info.latest_checkpoint, info.slot_ids), ("4f0c", ("0", "1")))
        self.assertEqual((info.container_rank, info.task_type), (1, "TRIAL"))
        self.assertEqual(info.user_data, {"folder": "pictures"})

    def test_get_cluster_info_has_the_addresses_of_all_nodes(self):
        alone = {**TASK, "TRAINYARD_MASTER_ADDR": "10.0.0.1", "TRAINYARD_NODE_RANK": "0"}
        with mock.patch.dict(os.environ, alone, clear=True):
            self.assertEqual(trainyard.get_cluster_info().container_addrs, ("10.0.0.1",))
        for said, addresses in (
            ("10.0.0.1,fe80::2", ("10.0.0.1", "fe80::2")),
            (",10.0.0.2", ("10.0.0.1", "10.0.0.2")),
        ):
            env = {**alone, "TRAINYARD_NNODES": "2", "TRAINYARD_NODE_ADDRS": said}
            with self.subTest(said=said), mock.patch.dict(os.environ, env, clear=True):
                self.assertEqual(trainyard.get_cluster_info().container_addrs, addresses)

    def test_attributes_that_only_determined_has_name_their_replacement(self):
        with mock.patch.dict(os.environ, TASK, clear=True):
            info = trainyard.get_cluster_info()
        for owner, name, remedy in (
            (info, "master_url", "TRAINYARD_URL"),
            (info, "session_token", "TRAINYARD_TOKEN"),
            (info, "allocation_id", "ctx.info.run"),
            (info, "gpu_uuids", "slot_ids"),
            (info.trial, "_config", "ctx.info.config"),
            (info.trial, "_steps_completed", "ctx.info.steps_completed"),
        ):
            with self.subTest(name=name):
                with self.assertRaisesRegex(AttributeError, f"{name}.*{remedy}"):
                    getattr(owner, name)
        with self.assertRaisesRegex(AttributeError, "no attribute 'nonsense'"):
            info.nonsense  # pyright: ignore[reportAttributeAccessIssue] — it is absent

    def test_get_cluster_info_has_no_checkpoint_at_the_first_start(self):
        environment = {**TASK, "TRAINYARD_LATEST_CHECKPOINT": "", "TRAINYARD_CONFIG": "{}"}
        with mock.patch.dict(os.environ, environment, clear=True):
            info = trainyard.get_cluster_info()
        self.assertIsNone(info.latest_checkpoint)
        self.assertEqual(info.user_data, {})

    def test_get_cluster_info_is_none_outside_of_a_task(self):
        with mock.patch.dict(os.environ, {}, clear=True):
            self.assertIsNone(trainyard.get_cluster_info())

    def test_get_cluster_info_raises_if_the_environment_is_incomplete(self):
        with mock.patch.dict(os.environ, {"TRAINYARD_TRIAL_ID": "12.3"}, clear=True):
            with self.assertRaisesRegex(trainyard.NotInTaskError, "the agent sets both"):
                trainyard.get_cluster_info()


if __name__ == "__main__":
    unittest.main()
