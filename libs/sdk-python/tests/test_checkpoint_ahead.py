"""Large files are copied inside the kernel, and read by the platform while they are sealed."""

import errno
import unittest
from unittest import mock

from fake_platform import problem
from test_checkpoint import CheckpointCase, tree

from trainyard._checkpoint import _read_ahead


class Ahead(CheckpointCase):
    def read_ahead(self):
        """The files that the platform was asked to read, of each request."""
        requests = list(self.platform.requests)
        return [one.body["paths"] for one in requests if one.path.endswith("/ahead")]

    def test_large_files_are_read_by_the_platform_while_they_are_sealed(self):
        self.store(small="1" * 1_000)
        self.assertEqual(self.read_ahead(), [])
        with mock.patch.object(_read_ahead, "HASH_LANE_BYTES_MIN", 1_000):
            with mock.patch.object(_read_ahead, "READ_AHEAD_BYTES_MIN", 5_000):
                self.store(a="1" * 4_999, b="2")
                self.assertEqual(self.read_ahead(), [])
                self.store(a="1" * 3_000, b="2", c="3" * 4_000)
                self.platform.wait_for(self.read_ahead)
        self.assertEqual(self.read_ahead(), [["c", "a"]])

    def test_nobody_waits_for_a_platform_that_does_not_read_ahead(self):
        older = problem(404, "not_found", "an older platform")
        self.platform.faults = lambda request: older if request.path.endswith("/ahead") else None
        with mock.patch.object(_read_ahead, "HASH_LANE_BYTES_MIN", 1):
            with mock.patch.object(_read_ahead, "READ_AHEAD_BYTES_MIN", 1):
                uuid = self.store(a="1")
        self.assertEqual(self.completed(), [uuid])

    def test_a_copy_is_whole_where_the_kernel_copies_nothing(self):
        def refuse(*_):
            raise OSError(errno.EXDEV, "another file system")

        for copy in (refuse, lambda *_: 0):
            with mock.patch("os.copy_file_range", copy, create=True):
                uuid = self.checkpoint.upload(self.make_source(), {"steps_completed": 1})
            with self.checkpoint.restore_path(uuid, compare=True) as path:
                self.assertEqual(tree(path), tree(self.make_source()))


if __name__ == "__main__":
    unittest.main()
