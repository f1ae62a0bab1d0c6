"""The writer marks the storage of its checkpoints, and all writers agree on one id."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from fake_platform import wait_until
from test_checkpoint import CheckpointCase

import trainyard
from trainyard import _storage_marker
from trainyard._checkpoint import _spooled_store
from trainyard._storage_marker import NAME, MarkerError, mark, seen

SOURCES = Path(trainyard.__file__).parent.parent


class Marker(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "storage"

    def test_a_root_keeps_its_id_and_contains_only_the_marker(self):
        found = mark(self.root)
        self.assertRegex(found, r"^[0-9a-f-]{36}$")
        self.assertEqual(mark(self.root), found)
        self.assertEqual(seen(self.root), found)
        self.assertEqual([path.name for path in self.root.iterdir()], [NAME])
        self.assertNotEqual(mark(self.root.with_name("other")), found)

    def test_processes_that_create_the_marker_at_once_agree_on_one_id(self):
        script = """
import sys
from pathlib import Path
from trainyard._storage_marker import mark
for line in sys.stdin:
    print(mark(Path(line.strip())), flush=True)
"""
        racers = [
            subprocess.Popen(
                [sys.executable, "-c", script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": str(SOURCES)},
            )
            for _ in range(2)
        ]
        try:
            for number in range(50):
                root = self.root / str(number)
                for racer in racers:
                    racer.stdin.write(f"{root}\n")
                    racer.stdin.flush()
                ids = {racer.stdout.readline().strip() for racer in racers}
                self.assertEqual(ids, {seen(root)})
                self.assertEqual([path.name for path in root.iterdir()], [NAME])
        finally:
            for racer in racers:
                racer.stdin.close()
                racer.wait()
                racer.stdout.close()

    def test_the_marker_is_readable_for_other_users_with_any_umask(self):
        before = os.umask(0o077)
        try:
            mark(self.root)
        finally:
            os.umask(before)
        self.assertEqual(stat.S_IMODE((self.root / NAME).stat().st_mode), 0o644)

    def test_a_file_system_without_links_gets_a_marker(self):
        with mock.patch("os.link", side_effect=OSError(errno.EPERM, "no links")):
            found = mark(self.root)
            self.assertEqual(mark(self.root), found)
        self.assertEqual([path.name for path in self.root.iterdir()], [NAME])

    def test_a_marker_whose_links_answer_was_lost_is_used(self):
        link = os.link

        def lossy(source, target):
            link(source, target)
            raise OSError(errno.EIO, "the answer was lost")

        with mock.patch("os.link", side_effect=lossy):
            self.assertEqual(mark(self.root), seen(self.root))

    def test_a_marker_without_an_id_is_not_replaced(self):
        self.root.mkdir()
        (self.root / NAME).write_text("")
        with self.assertRaisesRegex(MarkerError, f"yard storage adopt {self.root}"):
            mark(self.root)
        self.assertEqual(((self.root / NAME).read_text(), seen(self.root)), ("", ""))

    def test_a_marker_that_another_process_is_writing_is_waited_for(self):
        self.root.mkdir()
        (self.root / NAME).write_text("")
        found = "00000000-0000-4000-8000-00000000000a"
        sleeps = []

        def written_meanwhile(seconds):
            sleeps.append(seconds)
            (self.root / NAME).write_text(f"{found}\n")

        with mock.patch.object(_storage_marker.time, "sleep", written_meanwhile):
            self.assertEqual(mark(self.root), found)
        self.assertEqual(len(sleeps), 1)

    def test_a_root_that_cannot_be_marked_raises(self):
        self.root.parent.joinpath("storage").write_text("a file")
        with self.assertRaisesRegex(MarkerError, "cannot be marked as a storage of checkpoints"):
            mark(self.root)


class Declared(CheckpointCase):
    def test_a_declaration_has_the_storages_id(self):
        uuid = self.store(a="1")
        self.assertEqual(self.platform.checkpoints[uuid]["storageId"], seen(self.storage))

    def test_a_root_without_an_id_does_not_stop_the_training_and_is_logged_once(self):
        refused = mock.patch.object(
            _spooled_store._storage_marker, "mark", side_effect=MarkerError("no marker")
        )
        with refused:
            uuids = [self.store(a=str(n)) for n in range(2)]
        wait_until(lambda: self.completed() == uuids)
        self.assertNotIn("storageId", self.platform.checkpoints[uuids[0]])
        self.assertEqual(len([line for line in self.log if "no marker" in line]), 1)

    def test_reading_from_another_storage_than_the_checkpoints_raises(self):
        uuid = self.store(a="1")
        plan = self.remote.plan(uuid)
        self.assertEqual(plan.storage_id, seen(self.storage))
        (self.storage / NAME).unlink()
        mark(self.storage)
        with self.assertRaisesRegex(trainyard.CheckpointError, "this machine sees storage"):
            with self.checkpoint.restore_path(uuid):
                pass


class DeclaredWithoutRoot(CheckpointCase):
    spooled = False

    def test_the_storages_id_is_sent_after_the_platform_has_named_the_folder(self):
        uuids = [self.store(a=str(n)) for n in range(2)]
        told = [
            request.body.get("storageId")
            for request in self.platform.requests
            if request.path.endswith("/checkpoints")
        ]
        found = seen(self.storage)
        self.assertEqual(told, [None, found, found])
        self.assertEqual(self.completed(), uuids)


if __name__ == "__main__":
    unittest.main()
