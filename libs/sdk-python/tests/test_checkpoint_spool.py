"""The spool files by which the agent finds the checkpoints of ended processes."""

import json
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from trainyard._checkpoint._spool import CheckpointSpool, Record
from trainyard._spool import Spool


class Declared(unittest.TestCase):
    def test_a_record_names_the_last_validation_before_it(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        reports = Spool(Path(folder.name), 0)
        self.addCleanup(reports.close)
        spool = CheckpointSpool(Path(folder.name))
        self.assertEqual(spool.last_validation(), "")
        self.assertNotIn("lastValidation", Record("a", 1, {}, []).declaration())
        reports.append("validation", 1, {"loss": 1})
        record = Record("b", 1, {}, [], last_validation=spool.last_validation())
        self.assertEqual(record.declaration()["lastValidation"], "0-1")
        spool.begin("b")
        spool.seal(record)
        written = json.loads((spool.folder / "b.json").read_bytes())
        self.assertEqual(written["lastValidation"], "0-1")


class Settled(unittest.TestCase):
    def test_a_settled_checkpoint_keeps_its_record_while_its_begun_file_cannot_be_removed(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        spool = CheckpointSpool(Path(folder.name))
        spool.begin("whole")
        spool.seal(Record("whole", 1, {}, []))
        # The .begun file cannot be removed, as on a failing disk.
        begun = spool.folder / "whole.begun"
        begun.mkdir()
        spool.settle("whole")
        names = sorted(path.name for path in spool.folder.iterdir())
        self.assertEqual(names, ["whole.begun", "whole.json"])
        begun.rmdir()
        begun.touch()
        spool.settle("whole")
        self.assertEqual(list(spool.folder.iterdir()), [])

    def test_a_record_is_on_the_disk_before_the_mark_before_it_is_removed(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        spool = CheckpointSpool(Path(folder.name))
        spool.begin("whole")
        synced: list[tuple[str, bool]] = []
        real = os.fsync

        def fsync(fd):
            path = os.readlink(f"/proc/self/fd/{fd}")
            synced.append((path, (spool.folder / "whole.begun").exists()))
            real(fd)

        with mock.patch.object(os, "fsync", fsync):
            spool.seal(Record("whole", 1, {}, []))
        paths = [Path(path) for path, _ in synced]
        self.assertEqual([path.suffix for path in paths], [".tmp", ""])
        self.assertEqual([path.parent for path in paths], [spool.folder, spool.folder.parent])
        self.assertEqual([begun for _, begun in synced], [True, True])
        self.assertFalse((spool.folder / "whole.begun").exists())


if __name__ == "__main__":
    unittest.main()
