"""``python -m trainyard.profiler``: the profile of runs in local mode."""

from __future__ import annotations

import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from trainyard._spool import Spool
from trainyard.profiler import __main__ as command


def sample(mean, samples=10, name="utilization_percent", device=""):
    value = {"name": name, "min": mean / 2, "mean": mean, "max": mean * 2}
    return {"node": 0, "device": device, "samples": samples, "values": [value]}


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def spool(self, run):
        spool = Spool(self.folder / f"run-{run}" / "spool", 0)
        self.addCleanup(spool.close)
        return spool

    def run_command(self, *arguments):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = command.main(arguments)
        return code, out.getvalue(), err.getvalue()

    def test_the_profile_command_prints_the_totals_of_each_run(self):
        first = self.spool(2)
        with mock.patch("trainyard._spool.time.time_ns", side_effect=[0, 10**9, 2 * 10**9, 0, 0]):
            first.append("training", 10, {"loss": 1})
            first.append("cpu", 10, {"utilization_percent": 1})
            first.append("training", 50, {"loss": 1})
            first.append_system("cpu", 50, sample(10.0, samples=10))
            first.append_system("cpu", 50, sample(40.0, samples=20))
        self.spool(1)
        memory = sample(3 * 2**20, name="used_bytes", device="0")
        self.spool(10).append_system("gpu", 1, memory)
        code, out, _ = self.run_command(str(self.folder))
        self.assertEqual(code, 0)
        self.assertRegex(out, r"^run 2\nNODE +GROUP +DEVICE +MEASURED +MIN +MEAN +MAX +SAMPLES\n")
        self.assertRegex(
            out, r"0 +cpu +utilization_percent +5 +30 +80 +30\npace  20 steps a second\n"
        )
        self.assertRegex(out, r"\n\nrun 10\n")
        self.assertRegex(out, r"0 +gpu +0 +used_bytes +1.5 MiB +3 MiB +6 MiB +10\n")
        self.assertNotIn("run 1\n", out)

    def test_the_profile_command_explains_how_to_profile_a_run_without_a_profile(self):
        self.spool(1).append("training", 1, {"loss": 1})
        code, out, err = self.run_command(str(self.folder))
        self.assertEqual((code, out), (1, ""))
        self.assertIn("call ctx.profiler.on()", err)
        self.assertEqual(self.run_command()[0], 2)


if __name__ == "__main__":
    unittest.main()
