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
        rank, _ = self.of_killed_launcher("")
        self.wait_for_end_of(rank)

    def test_a_process_that_a_rank_detached_is_left_alone(self):
        rank, detached = self.of_killed_launcher("guard.add(rank.pid)")
        self.addCleanup(os.kill, detached, signal.SIGKILL)
        watched = os.pidfd_open(detached)
        self.addCleanup(os.close, watched)
        self.wait_for_end_of(rank)
        # The guard kills all that it finds at once.
        ended, _, _ = select.select([watched], [], [], 1)
        self.assertFalse(ended, "it was killed, too")

    def of_killed_launcher(self, added):
        """Returns the process ids of a rank and of a process that it detached, after their launcher was killed."""
        script = """
            import os, signal, subprocess, sys
            from trainyard.launch._guard import Guard
            detaching = "import os, signal, sys; rank = os.getpid()\\n"
            detaching += "if os.fork() == 0: os.setsid(); print(rank, os.getpid(), flush=True)\\n"
            detaching += "signal.alarm(600); signal.pause()"
            guard = Guard()
            rank = subprocess.Popen(
                [sys.executable, "-c", detaching],
                env={**os.environ, **guard.expect()},
                start_new_session=True,
                stdout=subprocess.PIPE,
            )
            ADDED
            print(rank.stdout.readline().decode(), flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        """
        ended = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script).replace("ADDED", added)],
            env={**os.environ, "PYTHONPATH": str(SRC)},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        self.assertEqual(ended.returncode, -signal.SIGKILL)
        return tuple(map(int, ended.stdout.split()))

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
