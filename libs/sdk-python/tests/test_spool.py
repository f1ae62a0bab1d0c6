"""A report whose call has returned is in the spool, after kills, with threads and forks, and on full disks."""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest
from pathlib import Path
from unittest import mock

from trainyard import _spool
from trainyard._limits import REPORT_BYTES_MAX

SRC = Path(_spool.__file__).parents[1]


def read(path: Path):
    """Returns all complete reports of a spool, as a reader sees them."""
    lines = path.read_bytes().split(b"\n")[:-1]
    return [report for report in map(_spool.parse_line, lines) if report is not None]


def keys(path: Path):
    return [report["key"] for report in read(path)]


class SpoolCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / _spool.REPORTS

    def open(self, rank=0):
        spool = _spool.Spool(self.folder, rank)
        self.addCleanup(spool.close)
        return spool


class Append(SpoolCase):
    def test_a_line_of_the_spool_is_the_proto_json_of_a_report(self):
        self.assertEqual(self.open(3).append("validation", 10, {"loss": 0.5, "é": "NaN"}), "3-1")
        line = self.path.read_bytes()
        self.assertTrue(line.endswith(b"}\n"))
        report = json.loads(line)
        at_ms = report.pop("atMs")
        self.assertGreater(at_ms, 1.6e12)
        self.assertEqual(
            report,
            {
                "key": "3-1",
                "group": "validation",
                "stepsCompleted": 10,
                "metrics": {"loss": 0.5, "é": "NaN"},
            },
        )

    def test_a_report_is_written_with_a_single_write(self):
        spool = self.open()
        with mock.patch("os.write", wraps=os.write) as write:
            spool.append("training", 1, {"text": "x" * 100_000})
        self.assertEqual(write.call_count, 1)

    def test_the_spool_names_the_last_validation_of_the_chief(self):
        spool, other = self.open(), self.open()
        self.assertEqual(_spool.last_validation(self.folder), "")
        spool.append("training", 1, {"loss": 1})
        other.append("validation", 1, {"loss": 1})
        self.assertEqual(_spool.last_validation(self.folder), "0-2")
        spool.append("training", 2, {"loss": 1})
        spool.append("validation", 2, {"loss": 1}, {"rank": 1, "aggregation": "mean"})
        self.assertEqual(_spool.last_validation(self.folder), "0-2")
        spool.append("validation", 2, {"loss": 1}, {"rank": 0, "aggregation": "mean"})
        self.assertEqual(_spool.last_validation(self.folder), "0-5")

    def test_a_validation_that_a_full_disk_refused_is_named_when_it_is_written(self):
        spool = self.open()
        spool.append("validation", 1, {"loss": 1})
        with (
            mock.patch.object(_spool.os, "write", side_effect=OSError(28, "No space left")),
            self.assertLogs("trainyard", "WARNING"),
        ):
            self.assertIsNone(spool.append("validation", 2, {"loss": 1}))
        self.assertEqual(_spool.last_validation(self.folder), "0-1")
        with self.assertLogs("trainyard", "WARNING"):
            spool.append("training", 3, {"loss": 1})
        named = _spool.last_validation(self.folder)
        self.assertEqual(
            [r["key"] for r in read(self.path) if r["group"] == "validation"][-1], named
        )

    def test_two_spool_objects_of_one_file_share_the_numbering(self):
        first, second = self.open(), self.open()
        for spool in (first, second, second, first, second):
            spool.append("training", 1, {})
        self.assertEqual(keys(self.path), ["0-1", "0-2", "0-3", "0-4", "0-5"])

    def test_an_incomplete_line_is_ended_and_no_number_is_used_twice(self):
        self.open().append("training", 1, {})
        whole = self.path.read_bytes()
        for cut in range(1, len(whole)):
            self.path.write_bytes(whole + whole.replace(b"0-1", b"0-2")[:-cut])
            _spool.Spool(self.folder, 0).append("training", 2, {})
            self.assertEqual(keys(self.path)[0], "0-1", cut)
            self.assertEqual(len(set(keys(self.path))), len(read(self.path)), cut)
            self.assertEqual(read(self.path)[-1]["stepsCompleted"], 2, cut)

    def test_report_numbers_continue_after_lines_of_the_largest_size(self):
        spool = self.open()
        text = "x" * (REPORT_BYTES_MAX - 200)
        for _ in range(3):
            spool.append("training", 1, {"text": text})
        self.assertEqual(self.open().append("training", 2, {}), "0-4")

    def test_a_report_over_the_size_limit_is_refused_and_nothing_is_written(self):
        spool = self.open()
        with self.assertRaisesRegex(ValueError, "at most 131,072"):
            spool.append("training", 1, {"text": "x" * REPORT_BYTES_MAX})
        self.assertEqual(self.path.read_bytes(), b"")
        self.assertEqual(spool.append("training", 1, {}), "0-1")

    @contextlib.contextmanager
    def full_disk(self):
        """Limits the file to 20 more bytes."""
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.path.stat().st_size + 20, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    def steps(self):
        return [report["stepsCompleted"] for report in read(self.path)]

    def test_reports_that_a_full_disk_refused_are_written_before_the_next_one(self):
        spool = self.open()
        spool.append("training", 1, {"a": 1})
        before = self.path.read_bytes()
        with self.full_disk(), self.assertLogs("trainyard", "WARNING") as log:
            self.assertIsNone(spool.append("training", 2, {"b": 2}))
            self.assertIsNone(spool.append("training", 3, {"b": 2}))
        self.assertEqual(len(log.output), 1, log.output)
        self.assertIn("cannot be written", log.output[0])
        self.assertEqual(self.path.read_bytes(), before)
        with self.assertLogs("trainyard", "WARNING") as log:
            self.assertEqual(spool.append("training", 4, {}), "0-6")
        self.assertIn("can be written again; 0 reports were lost", log.output[0])
        self.assertEqual(self.steps(), [1, 2, 3, 4])
        self.assertEqual(len(set(keys(self.path))), 4)

    def test_closing_writes_the_reports_that_a_full_disk_refused(self):
        spool = self.open()
        with self.full_disk(), self.assertLogs("trainyard", "WARNING"):
            spool.append("training", 1, {})
        with self.assertLogs("trainyard", "WARNING"):
            spool.close()
        self.assertEqual(self.steps(), [1])

    def test_a_disk_that_stays_full_drops_the_oldest_reports_and_logs_their_number(self):
        spool = self.open()
        with self.full_disk(), self.assertLogs("trainyard", "WARNING") as log:
            with mock.patch.object(_spool, "HELD_REPORT_BYTES_MAX", 1_000):
                for step in range(100):
                    spool.append("training", step, {"text": "x" * 100})
            spool.close()
        self.assertIn("could not be written before the end", log.output[-1])
        self.assertIn("100 reports are lost", log.output[-1])
        self.assertEqual(self.steps(), [])

    def test_a_report_to_a_closed_spool_raises(self):
        spool = self.open()
        spool.close()
        spool.close()
        with self.assertRaisesRegex(RuntimeError, "closed"):
            spool.append("training", 1, {})


class Together(SpoolCase):
    def test_several_threads_write_complete_lines_with_unique_numbers(self):
        spool = self.open()

        def work(thread):
            for n in range(200):
                spool.append("training", n, {"thread": thread, "pad": "x" * (n * 7)})

        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(keys(self.path), [f"0-{n}" for n in range(1, 1201)])
        for thread in range(6):
            steps = [
                r["stepsCompleted"] for r in read(self.path) if r["metrics"]["thread"] == thread
            ]
            self.assertEqual(steps, list(range(200)))

    def test_forked_children_and_threads_write_complete_lines_with_unique_numbers(self):
        spool = self.open()
        done = threading.Event()

        def work():
            while not done.is_set():
                spool.append("training", 0, {"who": "parent"})

        thread = threading.Thread(target=work)
        thread.start()
        children = []
        for _ in range(8):
            pid = os.fork()
            if pid == 0:
                for n in range(50):
                    spool.append("training", n, {"who": os.getpid()})
                os._exit(0)
            children.append(pid)
        for pid in children:
            self.assertEqual(os.waitpid(pid, 0)[1], 0)
        done.set()
        thread.join()
        reports = read(self.path)
        self.assertEqual(
            [r["key"] for r in reports], [f"0-{n}" for n in range(1, len(reports) + 1)]
        )
        for pid in children:
            self.assertEqual(sum(r["metrics"]["who"] == pid for r in reports), 50)

    def test_a_removed_spool_folder_does_not_affect_other_spools_in_a_forked_child(self):
        spools = [_spool.Spool(self.folder / str(n), 0) for n in range(3)]
        for spool in spools:
            self.addCleanup(spool.close)
        for name in ("0", "2"):
            shutil.rmtree(self.folder / name)
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                spools[1].append("training", 1, {})
                closed = 0
                for spool in (spools[0], spools[2]):
                    try:
                        spool.append("training", 1, {})
                    except RuntimeError:
                        closed += 1
                code = 0 if closed == 2 else 2
            finally:
                os._exit(code)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.assertEqual(keys(self.folder / "1" / _spool.REPORTS), ["0-1"])

    def test_a_signal_handler_may_report_while_a_report_is_written(self):
        spool = self.open()
        handled = []

        def handler(_signal, _frame):
            handled.append(spool.append("training", 1, {"from": "handler"}))

        before = signal.signal(signal.SIGALRM, handler)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        try:
            count = 0
            while len(handled) < 100:
                spool.append("training", 1, {"from": "loop"})
                count += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        self.assertEqual(len(set(keys(self.path))), count + len(handled))


WRITER = """
import os, sys
from pathlib import Path
from trainyard._spool import Spool
spool = Spool(Path(sys.argv[1]), 0)
pad = "x" * int(sys.argv[2])
n = 0
while True:
    n += 1
    key = spool.append(sys.argv[3], n, {"pid": os.getpid(), "pad": pad})
    os.write(1, f"{key}\\n".encode())
"""


class Killed(SpoolCase):
    def start_writer(self, pad, group="training"):
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(WRITER), str(self.folder), str(pad), group],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(SRC)},
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def read_until_killed(self, process, count):
        """Kills the process with SIGKILL after ``count`` keys, and returns the keys whose calls returned."""
        returned = [process.stdout.readline() for _ in range(count)]
        process.send_signal(signal.SIGKILL)
        returned += process.stdout.readlines()
        # The last line may be incomplete, so its report need not be in the spool.
        return [line.decode().strip() for line in returned if line.endswith(b"\n")]

    def test_the_validation_that_the_spool_names_after_sigkill_is_in_it(self):
        draw = random.Random(20261129)
        for _ in range(5):
            returned = self.read_until_killed(
                self.start_writer(0, "validation"), draw.randrange(1, 60)
            )
            named = _spool.last_validation(self.folder)
            self.assertIn(named, keys(self.path))
            # A call that had not returned may have named its report.
            self.assertGreaterEqual(int(named[2:]), int(returned[-1][2:]))

    def test_every_report_that_returned_is_in_the_spool_after_sigkill(self):
        draw = random.Random(20240601)
        for _ in range(6):
            # Two processes write. One is killed, and the other continues.
            writers = [self.start_writer(draw.choice([0, 100, 120_000])) for _ in range(2)]
            first = self.read_until_killed(writers[0], draw.randrange(1, 60))
            second = self.read_until_killed(writers[1], draw.randrange(20, 80))
            found = keys(self.path)
            self.assertEqual(len(found), len(set(found)))
            self.assertLessEqual(set(first) | set(second), set(found))
            self.assertFalse(set(first) & set(second))

    def test_sigterm_ends_a_script_at_once_and_loses_no_report(self):
        writer = self.start_writer(10)
        returned = [writer.stdout.readline().decode().strip() for _ in range(50)]
        writer.terminate()
        self.assertEqual(writer.wait(120), -signal.SIGTERM)
        self.assertLessEqual(set(returned), set(keys(self.path)))


if __name__ == "__main__":
    unittest.main()
