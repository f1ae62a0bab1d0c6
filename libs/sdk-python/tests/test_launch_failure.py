"""The launcher says how a rank failed, from its stderr and its exit code."""

from __future__ import annotations

import unittest

from trainyard.launch import _failure


class Failures(unittest.TestCase):
    def test_a_long_traceback_is_cut_at_its_beginning(self):
        lines = [f'  File "f{n}.py", line {n}, in f' for n in range(200)]
        text = ["Traceback (most recent call last):", *lines, "ValueError: last"]
        message = _failure.failure_of(1, 0, 1, text, None).message()
        self.assertLessEqual(len(message), 2000)
        self.assertTrue(message.startswith("rank 1: ValueError: last (f199.py, line 199)"), message)
        self.assertTrue(message.endswith('f199.py", line 199, in f\nValueError: last'), message)

    def test_errors_about_a_lost_process_are_recognized(self):
        head = "Traceback (most recent call last):"
        for last, follows in (
            ("torch.distributed.DistBackendError: NCCL error", True),
            ("RuntimeError: [../third_party/gloo/x.cc:81] Connection closed by peer [::1]:5", True),
            ("trainyard.errors.DistributedError: rank 1 has ended", True),
            ("RuntimeError: the sizes differ", False),
            ("ValueError: gloo", False),
        ):
            failure = _failure.failure_of(0, 0, 1, [head, "  x", last], None)
            self.assertEqual(failure.follows, follows, last)
        # Torch prints this prefix after its process group was created.
        prefixed = [f"[rank0]: {line}" for line in (head, '  File "t.py", line 3', "ValueError: x")]
        said = _failure.failure_of(0, 0, 1, prefixed, None)
        self.assertEqual(said.summary, "ValueError: x (t.py, line 3)")
        self.assertTrue(_failure.failure_of(0, 0, -6, ["NCCL watchdog"], None).follows)
        self.assertFalse(_failure.failure_of(0, 0, -11, [], None).follows)


if __name__ == "__main__":
    unittest.main()
