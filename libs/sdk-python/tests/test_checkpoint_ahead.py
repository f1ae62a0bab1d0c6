"""Large files are copied inside the kernel, and the platform reads them while they are sealed."""

import errno
import unittest
from unittest import mock

from fake_platform import problem
from test_checkpoint import CheckpointCase, tree

from trainyard._checkpoint import _read_ahead


class Ahead(CheckpointCase):
    def read_ahead(self):
        """The lists of files in the read-ahead requests that the platform received."""
        requests = list(self.platform.requests)
        return [one.body["paths"] for one in requests if one.path.endswith("/ahead")]

    def test_the_platform_reads_large_files_while_they_are_sealed(self):
        self.store(small="1" * 1_000)
        self.assertEqual(self.read_ahead(), [])
        with mock.patch.object(_read_ahead, "HASH_LANE_BYTES_MIN", 1_000):
            with mock.patch.object(_read_ahead, "READ_AHEAD_BYTES_MIN", 5_000):
                self.store(a="1" * 4_999, b="2")
                self.assertEqual(self.read_ahead(), [])
                self.store(a="1" * 3_000, b="2", c="3" * 4_000)
                self.platform.wait_for(self.read_ahead)
        self.assertEqual(self.read_ahead(), [["c", "a"]])

    def test_a_checkpoint_is_stored_without_read_ahead_if_the_platform_lacks_it(self):
        older = problem(404, "not_found", "an older platform")
        self.platform.faults = lambda request: older if request.path.endswith("/ahead") else None
        with mock.patch.object(_read_ahead, "HASH_LANE_BYTES_MIN", 1):
            with mock.patch.object(_read_ahead, "READ_AHEAD_BYTES_MIN", 1):
                uuid = self.store(a="1")
        self.assertEqual(self.completed(), [uuid])

    def test_a_copy_is_complete_when_the_kernel_refuses_to_copy(self):
        def refuse(*_):
            raise OSError(errno.EXDEV, "another file system")

        for copy in (refuse, lambda *_: 0):
            with mock.patch("os.copy_file_range", copy, create=True):
                uuid = self.checkpoint.upload(self.make_source(), {"steps_completed": 1})
            with self.checkpoint.restore_path(uuid, compare=True) as path:
                self.assertEqual(tree(path), tree(self.make_source()))


if __name__ == "__main__":
    unittest.main()
