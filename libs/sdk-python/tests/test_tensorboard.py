"""TensorBoard files: their location, their content after a kill, and their format, byte by byte."""

from __future__ import annotations

import struct
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from fake_platform import LOG
from test_context import ContextCase

from trainyard.tensorboard._events import EventFile, _masked_crc

MIRROR = """
    import trainyard
    with trainyard.init() as ctx:
        ctx.tensorboard.mirror_metrics()
        for step in (1, 2):
            ctx.train.report_training_metrics(step, {"loss": 1 / step, "name": "x", "ok": True})
        ctx.train.report_validation_metrics(2, {"accuracy": float("nan")})
        ctx.train.report_progress(0.5)
        print(ctx.tensorboard.path)
"""


def records(path):
    """Returns the data of each record, after checking both checksums."""
    content = path.read_bytes()
    while content:
        header, check = content[:8], content[8:12]
        assert _masked_crc(header) == check
        (length,) = struct.unpack("<Q", header)
        data, content = content[12 : 12 + length], content[12 + length :]
        assert _masked_crc(data) == content[:4]
        content = content[4:]
        yield data


def reported(path):
    """Returns the data of each record of a report. A slash alone is not enough: the bytes of a time may contain
    one.
    """
    return [data for data in records(path) if b"training/" in data or b"validation/" in data]


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, run, purge_step, *events):
        file = EventFile(self.folder, run, purge_step)
        for step, scalars in events:
            file.add(step, scalars)
        file.close()
        (path,) = self.folder.iterdir()
        return list(records(path))

    def test_the_checksum_is_a_masked_crc_32c(self):
        # RFC 3720, B.4: the CRC-32C of 32 zeros is 8a9136aa. It is masked as in TFRecord.
        crc = 0x8A9136AA
        masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
        self.assertEqual(_masked_crc(bytes(32)), struct.pack("<I", masked))

    def test_a_record_is_a_tensorflow_event(self):
        with mock.patch("time.time", return_value=1.5):
            version, event = self.write(1, None, (300, {"a/b": 0.5}))
        time_ = b"\x09" + struct.pack("<d", 1.5)
        self.assertEqual(version, time_ + b"\x1a\x0dbrain.Event:2")
        value = b"\x0a\x0a" + b"\x0a\x03a/b" + b"\x15" + struct.pack("<f", 0.5)
        self.assertEqual(event, time_ + b"\x10\xac\x02" + b"\x2a\x0c" + value)

    def test_a_later_run_starts_with_a_session_log_at_the_first_repeated_step(self):
        with mock.patch("time.time", return_value=1.5):
            _, start = self.write(2, 41)
        self.assertEqual(start[9:], b"\x10\x29" + b"\x3a\x02\x08\x01")

    def test_values_outside_of_the_4_byte_float_range_become_infinite(self):
        big = {"a": 1e300, "b": -1e300, "c": float("nan")}
        _, event = self.write(1, None, (0, big))
        self.assertIn(struct.pack("<f", float("inf")), event)
        self.assertIn(struct.pack("<f", float("-inf")), event)


class InARun(ContextCase):
    def folder_of_trial(self):
        return self.folder / f"storage/tensorboard/{LOG}/experiment/12/trial/12.3"

    def files(self):
        return sorted((self.folder_of_trial() / "metrics").glob("events.out.tfevents.*"))

    def test_tensorboard_files_are_next_to_the_checkpoints(self):
        out, _ = self.run_script(MIRROR, TRAINYARD_RUN="2")
        self.assertEqual(out.strip(), str(self.folder_of_trial()))

    def test_reports_are_copied_to_tensorboard_files(self):
        self.run_script(MIRROR)
        (path,) = self.files()
        tags = reported(path)
        self.assertEqual(len(tags), 3)
        self.assertIn(b"training/loss", tags[0])
        self.assertNotIn(b"training/name", tags[0])
        self.assertNotIn(b"training/ok", tags[0])
        self.assertIn(b"validation/accuracy", tags[2])

    def test_a_killed_run_leaves_its_events_and_the_next_run_adds_a_file(self):
        killed = MIRROR.replace(
            "ctx.train.report_progress(0.5)", "import os; os.kill(os.getpid(), 9)"
        )
        self.run_script(killed, code=-9)
        (first,) = self.files()
        self.assertEqual(len(reported(first)), 3)
        self.run_dir = self.folder / "run-again"
        self.run_script(MIRROR, TRAINYARD_STEPS_COMPLETED="1")
        last = [path for path in self.files() if path != first]
        self.assertEqual(len(last), 1)
        # SessionLog.START at the step after that of the checkpoint.
        self.assertEqual(list(records(last[0]))[1][9:], b"\x10\x02\x3a\x02\x08\x01")

    def test_a_failing_tensorboard_storage_causes_a_warning_and_loses_no_report(self):
        self.folder_of_trial().mkdir(parents=True)
        (self.folder_of_trial() / "metrics").write_text("in the way")
        _, err = self.run_script(MIRROR)
        self.assertEqual(err.count("no longer copied to TensorBoard files"), 1)
        self.assertEqual(len(self.spooled()), 4)

    def test_without_a_known_storage_the_files_stay_with_the_run_and_a_warning_is_logged(self):
        out, err = self.run_script(MIRROR, TRAINYARD_CHECKPOINT_ROOT="")
        self.assertEqual(out.strip(), str(self.run_dir / "tensorboard"))
        self.assertIn("TensorBoard files stay in", err)

    def test_files_with_a_separate_tensorboard_storage_are_there_and_it_is_marked(self):
        own = self.folder / "boards"
        out, err = self.run_script(MIRROR, TRAINYARD_TENSORBOARD_ROOT=str(own))
        self.assertEqual(
            Path(out.strip()), own / "tensorboard" / LOG / "experiment" / "12" / "trial" / "12.3"
        )
        self.assertEqual(len(list((Path(out.strip()) / "metrics").iterdir())), 1)
        self.assertTrue((own / ".trainyard-storage").is_file())
        self.assertFalse(self.folder_of_trial().exists())
        self.assertNotIn("TensorBoard", err)

    def test_a_tensorboard_storage_that_cannot_be_marked_causes_a_warning(self):
        own = self.folder / "boards"
        (own / ".trainyard-storage").mkdir(parents=True)
        _, err = self.run_script(MIRROR, TRAINYARD_TENSORBOARD_ROOT=str(own))
        self.assertIn("will not delete the TensorBoard files with their experiment", err)
        self.assertEqual(len(self.spooled()), 4)

    def test_another_rank_has_a_separate_tensorboard_folder(self):
        script = """
            import os, trainyard
            from trainyard.tensorboard import TensorBoardContext
            with trainyard.init() as ctx:
                print(TensorBoardContext(ctx.info, 3).path.name)
        """
        self.assertEqual(self.run_script(script)[0].strip(), "rank-3")

    def test_a_writer_without_its_packages_raises_and_names_them(self):
        script = """
            import sys, trainyard
            sys.modules["torch"] = None
            with trainyard.init() as ctx:
                try:
                    ctx.tensorboard.writer()
                except ImportError as error:
                    print(error)
        """
        out, _ = self.run_script(script)
        self.assertIn("ctx.tensorboard.writer needs the packages torch and tensorboard", out)


if __name__ == "__main__":
    unittest.main()
