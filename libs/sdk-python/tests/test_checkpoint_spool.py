"""The files by which agents know what ended processes have left of their checkpoints."""

import tempfile
import unittest
from pathlib import Path

from trainyard._checkpoint._spool import CheckpointSpool, Record


class Settled(unittest.TestCase):
    def test_a_settled_checkpoint_is_never_left_as_one_that_was_never_whole(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        spool = CheckpointSpool(Path(folder.name))
        spool.begin("whole")
        spool.seal(Record("whole", 1, {}, []))
        # A disk that has errors does not let go of it.
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
