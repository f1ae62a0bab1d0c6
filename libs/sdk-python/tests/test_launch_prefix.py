"""The prefix of a process's lines."""

from __future__ import annotations

import unittest

from trainyard.launch._prefix import prefixed


class Prefix(unittest.TestCase):
    def test_a_line_has_its_rank_and_a_newline(self):
        for line, expected in (
            (b"step 1\n", b"[rank=3] step 1\n"),
            (b"", b"[rank=3] \n"),
            (b"cut", b"[rank=3] cut\n"),
            (b"of windows\r\n", b"[rank=3] of windows\r\n"),
        ):
            self.assertEqual(prefixed(3, line), expected)

    def test_each_state_of_a_progress_bar_has_the_rank(self):
        self.assertEqual(
            prefixed(3, b"\r 10%\r 20%\r100%\n"),
            b"[rank=3] \r[rank=3]  10%\r[rank=3]  20%\r[rank=3] 100%\n",
        )
        self.assertEqual(prefixed(3, b"10%\r20%\r"), b"[rank=3] 10%\r[rank=3] 20%\r\n")
