"""The spool files by which the agent finds the checkpoints of ended processes."""

import tempfile
import unittest
from pathlib import Path

from trainyard._checkpoint._spool import CheckpointSpool, Record


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


if __name__ == "__main__":
    unittest.main()
