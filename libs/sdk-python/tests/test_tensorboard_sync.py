"""TensorBoard files of runs whose checkpoints are in an object store are uploaded while they are written."""

from __future__ import annotations

import unittest
from unittest import mock

from fake_platform import TOKEN, wait_until
from fake_store import StorePlatform
from test_context import ContextCase
from test_sender import RUN, SenderCase

from trainyard._checkpoint import _parts
from trainyard.tensorboard import _sync


class Sync(SenderCase):
    def setUp(self):
        super().setUp()
        self.platform.stop()
        self.platform = StorePlatform()
        self.addCleanup(self.platform.stop)
        self.root = self.folder / "tensorboard"
        (self.root / "metrics").mkdir(parents=True)
        self.events = self.root / "metrics" / "events.1"
        self.sync = _sync.TensorBoardSync(self.platform.url, TOKEN, RUN, self.root)
        self.addCleanup(self.sync.close)

    def stored(self):
        return self.platform.objects.get("tensorboard/metrics/events.1")

    def test_a_growing_file_is_uploaded_again_and_an_unchanged_one_is_not(self):
        self.events.write_bytes(b"12")
        with mock.patch.object(_sync, "TENSORBOARD_SYNC_S", 0.05):
            self.sync.start()
            wait_until(lambda: self.stored() == b"12")
            with open(self.events, "ab") as file:
                file.write(b"34")
            wait_until(lambda: self.stored() == b"1234")
            asked = len(self.platform.requests)
            # Rounds without a change send no requests, except the last request of a round that had started.
            self.sync._stopped.wait(0.5)
            self.assertLessEqual(len(self.platform.requests), asked + 1)
        self.sync.close()

    def test_an_unavailable_store_is_logged_once(self):
        self.events.write_bytes(b"12")
        self.platform.store_faults = lambda method, key: 503
        with mock.patch.object(_sync, "TENSORBOARD_SYNC_S", 0.05):
            self.sync.start()
            wait_until(lambda: any("are not sent yet" in line for line in self.log))
            self.platform.store_faults = lambda method, key: None
            wait_until(lambda: self.stored() == b"12")
        self.assertEqual(len([line for line in self.log if "are not sent yet" in line]), 1)

    def test_late_events_of_an_earlier_run_extend_its_file_and_replace_no_other(self):
        other = self.root / "metrics" / "events.2"
        self.platform.objects["tensorboard/metrics/events.1"] = b"12"
        self.platform.objects["tensorboard/metrics/events.2"] = b"of the next run"
        self.platform.superseded = True
        self.events.write_bytes(b"1234")
        other.write_bytes(b"of this run, and longer")
        with mock.patch.object(_sync, "TENSORBOARD_SYNC_S", 0.05):
            self.sync.start()
            wait_until(lambda: self.stored() == b"1234", 30.0)
        self.sync.close()
        kept = self.platform.objects["tensorboard/metrics/events.2"]
        self.assertEqual(kept, b"of the next run")

    def test_a_snapshot_has_the_size_of_the_file_when_reading_begins(self):
        self.events.write_bytes(b"12")

        def grow(count):
            with open(self.events, "ab") as file:
                file.write(b"34")

        found = _parts.snapshot(self.root, "metrics/events.1", grow)
        self.assertEqual(found.entry.bytes, 2)


class InARun(ContextCase):
    def test_with_uploads_the_files_are_in_the_runs_folder_and_no_warning_is_logged(self):
        _, err = self.run_script(
            """
            import trainyard
            with trainyard.init() as ctx:
                ctx.tensorboard.mirror_metrics()
                ctx.train.report_training_metrics(1, {"loss": 0.5})
            """,
            TRAINYARD_CHECKPOINT_UPLOADS="1",
        )
        self.assertEqual(len(list((self.run_dir / "tensorboard/metrics").iterdir())), 1)
        self.assertNotIn("TensorBoard files stay", err)

    def test_files_with_a_separate_object_store_are_uploaded_from_the_runs_folder(self):
        out, err = self.run_script(
            """
            import trainyard
            from trainyard.tensorboard._folder import are_sent
            with trainyard.init() as ctx:
                print(ctx.tensorboard.path, are_sent())
            """,
            TRAINYARD_TENSORBOARD_ROOT="",
        )
        self.assertEqual(out.split(), [str(self.run_dir / "tensorboard"), "True"])
        self.assertNotIn("TensorBoard files stay", err)


if __name__ == "__main__":
    unittest.main()
