"""A checkpoint is complete with every byte, or it does not exist."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import random
import signal
import subprocess
import sys
import threading
import unittest
from pathlib import Path
from unittest import mock

from fake_platform import LOSE_ANSWER, RESET, TOKEN, Answer, problem
from stopwatch import Stopwatch
from test_sender import RUN, SenderCase

import trainyard
from trainyard import _storage, _storage_marker, _versions
from trainyard._checkpoint import CheckpointContext, _store
from trainyard._checkpoint._sender import CheckpointSender
from trainyard._checkpoint._spool import CheckpointSpool
from trainyard._checkpoint._spooled_store import SpooledStore
from trainyard._versions import without_versions


class CheckpointCase(SenderCase):
    # Whether the agent has passed the storage's root, so that the spool is used.
    spooled = True

    def setUp(self):
        super().setUp()
        self.storage = self.folder / "storage"
        self.storage.mkdir()
        self.platform.storage = self.storage
        self.remote = _store.RemoteStore(self.platform.url, RUN, TOKEN, self.folder / "restored")
        self.checkpoint_spool = CheckpointSpool(self.folder / "spool")
        self.checkpoint = CheckpointContext(self.open_store() if self.spooled else self.remote)

    def open_store(self):
        spool = self.checkpoint_spool
        sender = CheckpointSender(spool, self.storage, self.platform.url, RUN, TOKEN)
        store = SpooledStore(self.remote, spool, sender)
        self.addCleanup(store.close, 0.0)
        return store

    def left(self):
        """The names of the files in the spool."""
        folder = self.checkpoint_spool.folder
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []

    def folders(self):
        """The names of the folders in the storage, without its marker."""
        return [path.name for path in self.storage.iterdir() if path.name != _storage_marker.NAME]

    def completed(self):
        found = self.platform.checkpoints.items()
        return [uuid for uuid, checkpoint in found if checkpoint["state"] == "COMPLETED"]

    def assert_not_complete(self, uuid):
        """Checks that a declared checkpoint is incomplete; with the spool, that none was declared."""
        if self.spooled:
            self.assertNotIn(uuid, self.platform.checkpoints)
            self.assertEqual(self.left(), [])
        else:
            self.assertEqual(self.platform.checkpoints[uuid]["state"], "ACTIVE")

    def make_source(self, seed=0):
        source = self.folder / f"source-{seed}"
        draw = random.Random(seed)
        for name in ("model.bin", "opt/state.bin", "opt/deep/é 💥.txt", "empty"):
            path = source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(draw.randbytes(0 if name == "empty" else draw.randrange(1, 3_000_000)))
        return source

    def store(self, **files):
        with self.checkpoint.store_path({"steps_completed": 1}) as (path, uuid):
            for name, content in files.items():
                (path / name).write_text(content)
        return uuid


def tree(folder: Path):
    """The content of the files of a folder, by relative path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "metadata.json"
    }


class Storing(CheckpointCase):
    def test_an_uploaded_folder_is_downloaded_unchanged(self):
        source = self.make_source()
        uuid = self.checkpoint.upload(source, {"steps_completed": 7, "loss": float("nan")})
        stored = self.platform.checkpoints[uuid]
        self.assertEqual(stored["state"], "COMPLETED")
        self.assertEqual(stored["stepsCompleted"], 7)
        self.assertEqual(
            [entry["path"] for entry in stored["manifest"]],
            ["empty", "metadata.json", "model.bin", "opt/deep/é 💥.txt", "opt/state.bin"],
        )
        self.checkpoint.download(uuid, self.folder / "copy")
        self.assertEqual(tree(self.folder / "copy"), tree(source))
        metadata = {"steps_completed": 7, "loss": "NaN"}
        self.assertEqual(json.loads((self.folder / "copy/metadata.json").read_text()), metadata)
        self.assertEqual(self.checkpoint.get_metadata(uuid), metadata)
        told = stored["metadata"][_versions.KEY]
        self.assertEqual(told["python"], platform.python_version())
        self.assertEqual(without_versions(stored["metadata"]), metadata)

    def test_restore_path_yields_the_files_written_in_store_path(self):
        with self.checkpoint.store_path({"steps_completed": 1}) as (path, uuid):
            self.assertEqual(list(path.iterdir()), [])
            (path / "a").write_text("1")
        with self.checkpoint.restore_path(uuid) as restored:
            self.assertEqual((restored / "a").read_text(), "1")

    def test_a_selector_chooses_the_files_of_upload_and_download(self):
        source = self.make_source()
        uuid = self.checkpoint.upload(
            source, {"steps_completed": 1}, selector=lambda path: path.startswith("opt/")
        )
        self.checkpoint.download(uuid, self.folder / "all")
        self.assertEqual(set(tree(self.folder / "all")), {"opt/state.bin", "opt/deep/é 💥.txt"})
        self.checkpoint.download(uuid, self.folder / "one", selector=lambda path: "state" in path)
        self.assertEqual(set(tree(self.folder / "one")), {"opt/state.bin"})

    def test_links_are_stored_as_the_contents_of_their_targets(self):
        outside = self.folder / "outside"
        outside.mkdir()
        (outside / "data").write_text("kept")
        with self.checkpoint.store_path({"steps_completed": 1}) as (path, uuid):
            (path / "step-1").write_text("weights")
            (path / "last").symlink_to("step-1")
            (path / "folder").symlink_to(outside)
        (outside / "data").write_text("changed later")
        with self.checkpoint.restore_path(uuid) as path:
            expected = {"step-1": b"weights", "last": b"weights", "folder/data": b"kept"}
            self.assertEqual(tree(path), expected)
            self.assertFalse((path / "last").is_symlink())

    def test_files_that_cannot_be_stored_are_refused(self):
        def make_fifo(path):
            os.mkfifo(path / "pipe")

        def make_dangling(path):
            (path / "link").symlink_to("nowhere")

        def make_loop(path):
            (path / "loop").symlink_to(path)

        def make_bytes(path):
            os.close(os.open(os.fsencode(path) + b"/\xff", os.O_CREAT))

        def make_metadata(path):
            (path / "metadata.json").write_text('{"mine":1}')

        for make in (make_fifo, make_dangling, make_loop, make_bytes, make_metadata):
            with self.subTest(make.__name__), self.assertRaises(ValueError):
                with self.checkpoint.store_path({"steps_completed": 1}) as (path, uuid):
                    make(path)
            self.assert_not_complete(uuid)
            self.assertFalse((self.storage / uuid).exists())

    def test_more_files_than_the_limit_are_refused(self):
        with mock.patch.object(_storage, "CHECKPOINT_FILES_MAX", 2):
            with self.assertRaisesRegex(ValueError, "at most 2"):
                self.store(a="1", b="2", c="3")

    def test_a_manifest_that_is_too_large_for_a_message_is_refused(self):
        with mock.patch.object(_storage, "MANIFEST_BYTES_MAX", 250):
            with self.assertRaisesRegex(ValueError, "at most 250"):
                self.store(**{"a" * 100: "1"})
        self.assertEqual(self.folders(), [])

    def test_metadata_is_checked_before_anything_is_declared(self):
        for metadata in ({}, {"steps": 1}):
            with self.assertRaisesRegex(ValueError, "needs 'steps_completed'"):
                self.checkpoint.upload(self.folder, metadata)
        for metadata in (None, [], {"steps_completed": "1"}, {"steps_completed": 1, "x": object()}):
            with self.assertRaises(TypeError):
                self.checkpoint.upload(self.folder, metadata)
        with self.assertRaises(ValueError):
            self.checkpoint.upload(self.folder, {"steps_completed": 1, "x": "\ud800"})
        with self.assertRaisesRegex(ValueError, "is not a folder"):
            self.checkpoint.upload(self.folder / "nowhere", {"steps_completed": 1})
        self.assertEqual(self.platform.checkpoints, {})

    def test_an_exception_in_the_store_path_block_stores_nothing_and_propagates(self):
        with self.assertRaisesRegex(KeyError, "mine"):
            with self.checkpoint.store_path({"steps_completed": 1}) as (path, uuid):
                (path / "a").write_text("1")
                raise KeyError("mine")
        self.assert_not_complete(uuid)
        self.assertFalse((self.storage / uuid).exists())

    def test_a_restored_checkpoint_can_be_stored_again(self):
        source = self.make_source()
        first = self.checkpoint.upload(source, {"steps_completed": 1})
        self.checkpoint.download(first, self.folder / "copy")
        second = self.checkpoint.upload(self.folder / "copy", {"steps_completed": 2})
        self.assertEqual(self.checkpoint.get_metadata(second), {"steps_completed": 2})
        self.assertEqual(tree(self.storage / second), tree(source))

    def test_random_folder_trees_survive_storing_and_restoring(self):
        for seed in range(5):
            draw = random.Random(seed)
            with self.checkpoint.store_path({"steps_completed": seed}) as (path, uuid):
                for n in range(draw.randrange(12)):
                    file = path.joinpath(
                        *[f"d{draw.randrange(3)}" for _ in range(draw.randrange(4))], f"f{n}"
                    )
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(draw.randbytes(draw.choice([0, 1, 1 << 20, (1 << 20) + 1])))
                written = tree(path)
            self.checkpoint.download(uuid, self.folder / f"copy-{seed}")
            self.assertEqual(tree(self.folder / f"copy-{seed}"), written, f"seed {seed}")


class StoringWithoutRoot(Storing):
    spooled = False


class Trouble(CheckpointCase):
    def test_storing_retries_after_each_kind_of_fault(self):
        kinds = [RESET, LOSE_ANSWER, Answer(503), Answer(502), Answer(500), Answer(408)]
        kinds += [problem(429, "slow", "x", Retry_After="0")]
        for seed in range(6):
            draw = random.Random(seed)
            first = len(self.platform.requests)
            script = [draw.choice([*kinds, None]) for _ in range(4)]

            def faults(request, script=script, first=first):
                n = request.number - first
                return script[n] if n < len(script) else None

            self.platform.faults = faults
            with mock.patch.object(_store, "CHECKPOINT_BACKOFF_FIRST_S", 0.01):
                uuid = self.store(a=str(seed))
            self.platform.wait_for(lambda uuid=uuid: uuid in self.completed())
            self.assertEqual(self.platform.checkpoints[uuid]["state"], "COMPLETED", f"seed {seed}")

    def test_a_refused_checkpoint_raises_the_platforms_reason(self):
        for code in ("invalid_checkpoint", "checkpoint_exists"):
            self.platform.faults = lambda request, code=code: problem(409, code, "because")
            with self.assertRaisesRegex(
                trainyard.CheckpointError, "could not be declared: because"
            ):
                self.store(a="1")

    def test_storing_in_a_superseded_run_raises_run_superseded_error(self):
        self.platform.faults = lambda request: problem(409, "run_superseded", "run 3 was requested")
        with self.assertRaises(trainyard.RunSupersededError):
            self.store(a="1")

    def test_a_checkpoint_whose_file_the_disk_truncated_is_not_completed(self):
        def faults(request):
            if request.path.endswith("/complete"):
                for file in self.storage.glob("*/a"):
                    file.write_text("1")

        self.platform.faults = faults
        with self.assertRaisesRegex(trainyard.CheckpointError, "could not be completed"):
            self.store(a="12345")
        self.assertEqual([c["state"] for c in self.platform.checkpoints.values()], ["ACTIVE"])
        self.assertEqual(self.left(), [])

    def test_reading_a_damaged_file_raises(self):
        uuid = self.store(a="12345", b="same")
        (self.storage / uuid / "a").write_text("1234X")
        with self.assertRaisesRegex(
            trainyard.CheckpointError, "damaged: a has 5 bytes, and its content differs"
        ):
            self.checkpoint.download(uuid, self.folder / "copy")
        self.assertFalse((self.folder / "copy/a").exists())
        (self.storage / uuid / "a").write_text("123")
        with self.assertRaisesRegex(trainyard.CheckpointError, "a has 3 bytes instead of 5"):
            with self.checkpoint.restore_path(uuid):
                self.fail("a truncated checkpoint was restored")
        (self.storage / uuid / "a").unlink()
        with self.assertRaisesRegex(trainyard.CheckpointError, "a is missing"):
            with self.checkpoint.restore_path(uuid):
                self.fail("a truncated checkpoint was restored")

    def test_reading_from_a_storage_that_is_not_mounted_raises(self):
        uuid = self.store(a="1")
        self.storage.rename(self.folder / "elsewhere")
        with self.assertRaisesRegex(trainyard.CheckpointError, "mounted here"):
            self.checkpoint.download(uuid, self.folder / "copy")

    def test_an_incomplete_or_unknown_checkpoint_cannot_be_read(self):
        with self.assertRaises(KeyError):
            with self.checkpoint.store_path({"steps_completed": 1}) as (_path, uuid):
                raise KeyError
        for name in (uuid, "3f1d4f7e-0000-4000-8000-000000000000"):
            with self.assertRaisesRegex(trainyard.CheckpointError, "cannot be read: there is no"):
                self.checkpoint.get_metadata(name)
        with self.assertRaises(TypeError):
            self.checkpoint.get_metadata(None)

    def test_a_manifest_path_outside_of_the_folder_is_refused(self):
        uuid = self.store(a="1")
        secret = self.folder / "secret"
        secret.write_text("1")
        for path in ("../../secret", str(secret), ""):
            entry = {"path": path, "bytes": 1, "sha256": hashlib.sha256(b"1").hexdigest()}
            self.platform.checkpoints[uuid]["manifest"] = [entry]
            with self.assertRaisesRegex(trainyard.CheckpointError, "outside its folder"):
                self.checkpoint.download(uuid, self.folder / "copy")
        self.platform.checkpoints[uuid]["manifest"] = [{"path": "a"}]
        with self.assertRaisesRegex(trainyard.CheckpointError, "manifest of checkpoint"):
            self.checkpoint.download(uuid, self.folder / "copy")


class TroubleWithoutRoot(Trouble):
    spooled = False

    def test_storing_without_a_known_root_waits_for_the_end_of_an_outage(self):
        uuids = []
        self.platform.stop()
        thread = threading.Thread(target=lambda: uuids.append(self.store(a="1")))
        with mock.patch.object(_store, "CHECKPOINT_NOTICE_S", 0.1):
            with mock.patch.object(_store, "CHECKPOINT_BACKOFF_MAX_S", 0.1):
                thread.start()
                thread.join(0.7)
                self.assertTrue(thread.is_alive())
                self.platform.start()
                thread.join(120)
        self.assertEqual(self.platform.checkpoints[uuids[0]]["state"], "COMPLETED")
        self.assertTrue(any("could not be declared yet" in line for line in self.log), self.log)

    def test_storing_without_a_known_root_raises_after_a_long_outage(self):
        self.platform.stop()
        with mock.patch.object(_store, "CHECKPOINT_PATIENCE_S", 0.3):
            with self.assertRaisesRegex(trainyard.CheckpointError, "has not answered for"):
                self.store(a="1")

    def test_storing_without_a_known_root_raises_after_a_lasting_internal_error(self):
        self.platform.faults = lambda request: Answer(500)
        with mock.patch.object(_store, "CHECKPOINT_DEFECT_S", 0.3):
            with self.assertRaisesRegex(trainyard.CheckpointError, "HTTP 500"):
                self.store(a="1")


KILLED = """
import os, sys, trainyard
with trainyard.init() as ctx:
    with ctx.checkpoint.store_path({"steps_completed": 1}) as (path, uuid):
        (path / "model").write_bytes(os.urandom(1 << 20))
        os.write(1, (uuid + "\\n").encode())
        sys.stdin.read()
"""


class Killed(CheckpointCase):
    def test_a_process_killed_while_storing_leaves_no_complete_checkpoint(self):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                **os.environ,
                "PYTHONPATH": str(Path(trainyard.__file__).parents[1]),
                **self.platform.env(self.folder / "run"),
            },
        )
        with process:
            uuid = process.stdout.readline().decode().strip()
            process.send_signal(signal.SIGKILL)
        self.assertNotIn(uuid, self.platform.checkpoints)
        # The .begun file shows the agent a folder that nothing else refers to.
        spool = CheckpointSpool(self.folder / "run" / "spool")
        self.assertEqual([path.name for path in spool.folder.iterdir()], [f"{uuid}.begun"])
        with self.assertRaises(trainyard.CheckpointError):
            self.checkpoint.download(uuid, self.folder / "copy")

    def test_ctrl_c_ends_a_call_that_waits_for_the_platform(self):
        self.platform.stop()
        before = signal.getsignal(signal.SIGALRM)

        def interrupt(_signal, _frame):
            raise KeyboardInterrupt

        signal.signal(signal.SIGALRM, interrupt)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        started = Stopwatch()
        with self.assertRaises(KeyboardInterrupt):
            self.store(a="1")
        self.assertLess(started.seconds(), 5)


if __name__ == "__main__":
    unittest.main()
