"""The profiler's samples, with a fake /proc: what is read, what is reported, and what must not change."""

from __future__ import annotations

import os
import random
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

from test_context import ContextCase

from trainyard._spool import REPORTS, Spool, parse_line
from trainyard.profiler import ProfilerContext, _machine, _sources
from trainyard.profiler._sampler import Sampler, Window
from trainyard.profiler._throughput import Throughput

STAT = "cpu  {user} 0 {system} {idle} {iowait} 0 0 0 0 0\ncpu0 1 2 3\nintr 1\n"
MEMINFO = "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 250 kB\nBuffers: 1 kB\n"
DISKSTATS = """\
 8 0 sda {reads} 0 {sectors} 0 10 0 {sectors} 0 0 0 0
 8 1 sda1 999999 0 999999 0 10 0 999999 0 0 0 0
 259 0 nvme0n1 0 0 0 0 0 0 0 0 0 0 0
 259 1 nvme0n1p1 999999 0 999999 0 0 0 0 0 0 0 0
 7 0 loop0 999999 0 999999 0 0 0 0 0 0 0 0
 253 0 dm-0 999999 0 999999 0 0 0 0 0 0 0 0
"""
NETWORK = """\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes packets
    lo: 999999 0 0 0 0 0 0 0 999999 0 0 0 0 0 0 0
  eth0: {received} 1 0 0 0 0 0 0 {sent} 1 0 0 0 0 0 0
docker0: 999999 0 0 0 0 0 0 0 999999 0 0 0 0 0 0 0
"""


class FakeProc:
    """The files under /proc that the profiler reads, with counters that a test changes."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "net").mkdir()
        self.show(user=0, system=0, idle=0, iowait=0, reads=0, sectors=0, received=0, sent=0)

    def show(self, **counters):
        (self.folder / "stat").write_text(STAT.format(**counters))
        (self.folder / "meminfo").write_text(MEMINFO)
        (self.folder / "diskstats").write_text(DISKSTATS.format(**counters))
        (self.folder / "net/dev").write_text(NETWORK.format(**counters))


class ProfilerCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def reported(self):
        lines = (self.folder / "spool" / REPORTS).read_bytes().split(b"\n")
        return [report for report in map(parse_line, lines) if report is not None]

    def context(self, steps=lambda: 0):
        spool = Spool(self.folder / "spool", 0)
        self.addCleanup(spool.close)
        context = ProfilerContext(spool, None, steps, 0)
        self.addCleanup(context.off)
        return context


class Sources(ProfilerCase):
    def setUp(self):
        super().setUp()
        self.proc = FakeProc(self.folder)

    def read(self, now_s):
        return {group: values for s in self.sources for group, _, values in s.read(now_s)}

    def test_values_are_current_and_rates_cover_the_time_between_two_reads(self):
        throughput = Throughput()
        self.sources, missing = _machine.sources_here(throughput, self.folder)
        self.assertEqual(missing, [])
        self.read(10.0)
        throughput.batches, throughput.samples = 8, 64
        self.proc.show(
            user=60, system=10, idle=20, iowait=10, reads=6, sectors=4, received=3000, sent=500
        )
        found = self.read(12.0)
        self.assertEqual(found["cpu"]["utilization_percent"], 70.0)
        self.assertEqual(found["cpu"]["iowait_percent"], 10.0)
        self.assertEqual(found["memory"]["used_bytes"], 750 * 1024)
        self.assertEqual(found["memory"]["utilization_percent"], 75.0)
        self.assertEqual(
            found["disk"],
            {
                "read_bytes_per_second": 1024.0,
                "written_bytes_per_second": 1024.0,
                "operations_per_second": 3.0,
            },
        )
        self.assertEqual(
            found["network"], {"received_bytes_per_second": 1500.0, "sent_bytes_per_second": 250.0}
        )
        self.assertEqual(
            found["throughput"], {"batches_per_second": 4.0, "samples_per_second": 32.0}
        )

    def test_a_counter_that_decreases_does_not_cause_a_negative_rate(self):
        self.sources, _ = _machine.sources_here(Throughput(), self.folder)
        self.proc.show(user=5, system=0, idle=5, iowait=0, reads=9, sectors=9, received=9, sent=9)
        self.read(1.0)
        self.proc.show(user=5, system=0, idle=5, iowait=0, reads=1, sectors=1, received=1, sent=1)
        found = self.read(2.0)
        self.assertEqual(set(found["disk"].values()), {0.0})
        self.assertEqual(set(found["network"].values()), {0.0})
        self.assertNotIn("utilization_percent", found["cpu"])

    def test_disks_are_counted_without_their_partitions(self):
        names = ["sda", "sda1", "sdaa", "sdaa2", "nvme0n1", "nvme0n1p3", "nvme1n1", "nbd1"]
        names += ["nbd10", "mmcblk0", "mmcblk0p1", "vda", "vda15", "sr0", "zram0", "md127"]
        self.assertEqual(
            _sources.whole_disks(names),
            ["sda", "sdaa", "nvme0n1", "nvme1n1", "nbd1", "nbd10", "mmcblk0", "vda"],
        )

    def test_one_warning_names_the_sources_that_a_machine_lacks(self):
        empty = self.folder / "empty"
        empty.mkdir()
        sources, missing = _machine.sources_here(Throughput(), empty)
        self.assertEqual(missing, ["memory", "disk", "network"])
        self.assertEqual([source.group for source in sources], ["cpu", "throughput"])
        context = self.context()
        with mock.patch.object(_machine, "sources_here", return_value=(sources, missing)):
            with self.assertLogs("trainyard", "WARNING") as logs:
                context.on()
        self.assertEqual(len(logs.output), 1)
        self.assertIn("memory, disk, network", logs.output[0])


class Ticking(_sources.Source):
    """A source that counts 1, 2, 3, … and sets an event after a number of reads."""

    group = "cpu"

    def __init__(self, enough):
        self.reads = 0
        self.enough = enough
        self.done = threading.Event()
        self.closed = False

    def read(self, now_s):
        self.reads += 1
        if self.reads > self.enough:
            self.done.set()
        return [("cpu", "", {"utilization_percent": float(self.reads)})]

    def close(self):
        self.closed = True


WHOLE_RUN = Window(0, None)


class Sampling(unittest.TestCase):
    def sample(self, source, samples_per_report, steps=lambda: 5.0, window=WHOLE_RUN):
        reports = []
        sampler = Sampler(
            [source],
            lambda *report: reports.append(report),
            steps,
            0.001,
            samples_per_report,
            window,
        )
        sampler.start()
        self.assertTrue(source.done.wait(120))
        sampler.stop()
        self.assertTrue(source.closed)
        return reports

    def test_a_report_summarizes_its_samples_and_the_rest_is_reported_at_the_end(self):
        source = Ticking(5)
        reports = self.sample(source, 4)
        value = {"name": "utilization_percent", "min": 2.0, "mean": 3.5, "max": 5.0}
        self.assertEqual(reports[0], ("cpu", 5.0, "", 4, [value]))
        self.assertEqual(sum(report[3] for report in reports), source.reads - 1)

    def test_only_samples_of_steps_in_the_window_are_reported(self):
        source = Ticking(60)
        steps = iter(range(10_000))
        reports = self.sample(source, 1, lambda: float(next(steps)), Window(20, None))
        self.assertGreaterEqual(min(report[1] for report in reports), 20)
        source = Ticking(10)
        self.assertEqual(self.sample(source, 1, lambda: 9.0, Window(10, None)), [])

    def test_sampling_stops_after_the_end_of_the_window(self):
        source = Ticking(0)
        self.assertEqual(self.sample(source, 1, lambda: 11.0, Window(0, 10)), [])

    def test_a_failing_source_loses_its_samples_and_logs_one_warning(self):
        source = Ticking(4)
        failing = mock.Mock(spec=_sources.Source, group="disk")
        failing.read.side_effect = OSError("gone")
        reports = []
        sampler = Sampler(
            [failing, source],
            lambda *report: reports.append(report),
            lambda: 0.0,
            0.001,
            2,
            Window(0, None),
        )
        with self.assertLogs("trainyard", "WARNING") as logs:
            sampler.start()
            self.assertTrue(source.done.wait(120))
            sampler.stop()
        self.assertEqual(len(logs.output), 1)
        self.assertEqual({report[0] for report in reports}, {"cpu"})


class OnAndOff(ProfilerCase):
    def test_only_one_process_of_a_node_samples(self):
        first, second = self.context(), self.context()
        first.on()
        second.on()
        self.assertIsNotNone(first._sampler)
        self.assertIsNone(second._sampler)
        first.off()
        second.on()
        self.assertIsNotNone(second._sampler)

    def test_a_local_rank_other_than_0_does_not_sample(self):
        with mock.patch.dict(os.environ, {"LOCAL_RANK": "1"}):
            context = self.context()
        context.on()
        self.assertIsNone(context._sampler)

    def test_invalid_arguments_of_profiler_on_raise(self):
        context = self.context()
        for arguments, error in [
            ({"sampling_interval": 0}, ValueError),
            ({"sampling_interval": float("nan")}, ValueError),
            ({"sampling_interval": "1"}, TypeError),
            ({"sampling_interval": True}, TypeError),
            ({"samples_per_report": 0}, ValueError),
            ({"samples_per_report": 1.5}, TypeError),
        ]:
            with self.subTest(**arguments), self.assertRaisesRegex(error, "^profiler.on: "):
                context.on(**arguments)

    def test_a_forked_child_does_not_stop_its_parents_sampling(self):
        context = self.context()
        context.on()
        child = os.fork()
        if child == 0:
            context.off()
            os._exit(0)
        os.waitpid(child, 0)
        other = self.context()
        other.on()
        self.assertIsNone(other._sampler)
        self.assertTrue(context._sampler._thread.is_alive())

    def test_sampling_uses_less_than_a_hundredth_of_a_core(self):
        sources, _ = _machine.sources_here(Throughput())
        sampler = Sampler(sources, lambda *_: None, lambda: 0.0, 1.0, 10, Window(0, None))
        sampler._sample()
        started = time.process_time()
        for _ in range(200):
            sampler._sample()
        per_sample_s = (time.process_time() - started) / 200
        self.assertLess(per_sample_s, 0.01)

    def test_profiling_does_not_use_the_scripts_random_generators(self):
        random.seed(7)
        before = random.getstate()
        context = self.context(lambda: 3)
        context.on(0.1, 1)
        context.count(2, 64)
        context.off()
        self.assertEqual(random.getstate(), before)


class InARun(ContextCase):
    """Whole scripts that run against the platform."""

    CONFIG = '{"profiling": {"enabled": true, "begin_on_batch": 0, "sync_timings": true}}'
    SCRIPT = """
        import time, trainyard
        with trainyard.init() as ctx:
            for step in range(1, 4):
                ctx.train.report_training_metrics(step, {"loss": 1 / step, "cpu": step})
                ctx.train.report_metrics("cpu", step, {"utilization_percent": 1})
                ctx.profiler.count(1, 32)
            time.sleep(0.1)
    """

    def of_machines(self):
        return [report for report in self.platform.reports.values() if "system" in report]

    def test_profiling_in_the_configuration_reports_samples_until_the_end(self):
        self.run_script(self.SCRIPT, TRAINYARD_CONFIG=self.CONFIG, TRAINYARD_NODE_RANK="3")
        reports = self.of_machines()
        groups = {report["group"] for report in reports}
        self.assertLessEqual({"cpu", "throughput"}, groups)
        if Path("/proc/meminfo").exists():
            self.assertLessEqual({"memory", "disk", "network"}, groups)
        for report in reports:
            self.assertEqual(report["system"]["node"], 3)
            self.assertEqual(report["stepsCompleted"], 3)
            self.assertNotIn("metrics", report)

    def test_the_scripts_reports_are_the_same_with_and_without_profiling(self):
        told = []
        for number, config in enumerate(("{}", self.CONFIG)):
            self.run_dir = self.folder / f"run-{number}"
            self.run_script(self.SCRIPT, TRAINYARD_CONFIG=config)
            told.append(
                [
                    (report["group"], report["stepsCompleted"], report["metrics"])
                    for report in self.spooled()
                    if "system" not in report
                ]
            )
            # The fake platform would merge the reports of the two runs.
            self.platform.reports.clear()
        self.assertEqual(told[0], told[1])
        self.assertEqual(len(told[0]), 6)


if __name__ == "__main__":
    unittest.main()
