"""Outside of a task, the guard stops the ranks of a launcher that was killed."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import textwrap
import unittest

from test_context import SRC
from test_launch import LaunchCase

WAITING = """
    child = os.fork()
    if child == 0:
        signal.pause()
    print(os.getpid(), child, flush=True)
    signal.pause()
"""


class Guarding(LaunchCase):
    def test_the_ranks_of_a_killed_launcher_are_killed(self):
        nowhere = {"TRAINYARD_TRIAL_ID": "", "TRAINYARD_TOKEN": ""}
        process = self.node(WAITING, "--nproc-per-node=2", **nowhere)
        words = [process.stdout.readline().split() for _ in range(2)]
        process.kill()
        # The output ends only when all processes that have it open, the ranks and their children, have ended.
        for word in words:
            for pid in map(int, word[1:]):
                self.wait_for_end_of(pid)

    def test_a_rank_is_killed_whose_launcher_was_killed_before_it_added_the_rank(self):
        script = """
            import os, signal, subprocess
            from trainyard.launch._guard import Guard
            guard = Guard()
            env = {**os.environ, **guard.variables}
            quiet = {"stdout": subprocess.DEVNULL, "start_new_session": True}
            rank = subprocess.Popen(["sleep", "600"], env=env, **quiet)
            print(rank.pid, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        """
        ended = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script)],
            env={**os.environ, "PYTHONPATH": str(SRC)},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        self.assertEqual(ended.returncode, -signal.SIGKILL)
        self.wait_for_end_of(int(ended.stdout))

    def wait_for_end_of(self, pid):
        try:
            watched = os.pidfd_open(pid)
        except (ProcessLookupError, AttributeError):
            return
        self.addCleanup(os.close, watched)
        ready, _, _ = select.select([watched], [], [], self.timeout_s)
        self.assertTrue(ready, f"{pid} is still there")

    def test_a_launcher_that_ends_normally_kills_no_other_process(self):
        left = """
            if os.fork() == 0:
                os.setsid()
                print(os.getpid(), flush=True)
                time.sleep(600)
        """
        nowhere = {"TRAINYARD_TRIAL_ID": "", "TRAINYARD_TOKEN": ""}
        process = self.node(left, "--nproc-per-node=1", **nowhere)
        pid = int(process.stdout.readline().split()[-1])
        self.assertEqual(process.wait(self.timeout_s), 0)
        os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
