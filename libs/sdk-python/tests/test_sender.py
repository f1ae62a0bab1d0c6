"""The sender delivers every report exactly as written, through all failures of the service and the network."""

from __future__ import annotations

import logging
import os
import tempfile
import time
import unittest
from email.utils import formatdate
from pathlib import Path
from unittest import mock

from fake_platform import HANG, LOSE_ANSWER, RESET, TOKEN, Answer, FakePlatform, of_a_proxy, problem
from stopwatch import Stopwatch

from trainyard import _sender, _spool

RUN = "12.3#2"


class SenderCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.platform = FakePlatform()
        self.addCleanup(self.platform.stop)
        self.spool = _spool.Spool(self.folder, 0)
        self.addCleanup(self.spool.close)
        self.log = self.enterLogs()

    def enterLogs(self):
        """Collects the SDK's log instead of printing it."""
        records = []
        handler = logging.Handler()
        handler.emit = lambda record: records.append(record.getMessage())
        logger = logging.getLogger("trainyard")
        logger.addHandler(handler)
        before = logger.propagate
        logger.propagate = False
        self.addCleanup(setattr, logger, "propagate", before)
        self.addCleanup(logger.removeHandler, handler)
        return records

    def open(self, token=TOKEN):
        sender = _sender.Sender(self.spool, self.platform.url, RUN, token)
        sender.start()
        self.addCleanup(sender.stop, 5.0)
        return sender

    def report(self, count, **metrics):
        for _ in range(count):
            self.spool.append("training", 1, metrics)

    def expected(self):
        lines = self.spool.path.read_bytes().split(b"\n")
        return {r["key"]: r for r in map(_spool.parse_line, lines) if r is not None}

    def assert_all_delivered(self):
        self.assertEqual(self.platform.reports, self.expected())

    def acked(self):
        return _spool.read_acked(self.folder)


class Delivery(SenderCase):
    def test_reports_name_the_launch_of_the_run_if_it_has_a_valid_traceparent(self):
        named = []
        send = _sender.HttpConnection.request

        def request(connection, method, path, body=None, headers=None):
            named.append(headers)
            return send(connection, method, path, body, headers)

        valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        for given in (valid, "", "secret\r\nx: y"):
            with (
                mock.patch.dict(os.environ, {"TRACEPARENT": given}),
                mock.patch.object(_sender.HttpConnection, "request", request),
            ):
                sender = self.open()
                self.report(1)
                self.assertTrue(sender.flush(5))
                sender.stop(5.0)
        self.assertEqual(named, [{"traceparent": valid}, {}, {}])
        self.assert_all_delivered()

    def test_every_report_arrives_once_and_in_order_over_one_connection(self):
        sender = self.open()
        for n in range(20):
            self.spool.append("training", n, {"n": n, "é": "NaN"})
            sender.notify()
            if n % 5 == 0:
                self.assertTrue(sender.flush(5))
        self.assertTrue(sender.flush(5))
        self.assertEqual(list(self.platform.reports), [f"0-{n}" for n in range(1, 21)])
        self.assert_all_delivered()
        self.assertEqual(set(self.platform.deliveries.values()), {1})
        self.assertEqual(self.platform.connections, 1)
        self.assertEqual(self.platform.bad_tokens, 0)
        self.assertEqual(self.acked(), self.spool.path.stat().st_size)

    def test_a_batch_has_at_most_1000_reports(self):
        self.report(2500, loss=0.5)
        self.assertTrue(self.open().flush(10))
        self.assertEqual(self.platform.batches, [1000, 1000, 500])
        self.assert_all_delivered()

    def test_a_batch_has_at_most_4_mib(self):
        # The fake platform answers 413 to a larger request.
        self.report(80, text="x" * 120_000)
        self.assertTrue(self.open().flush(10))
        self.assertEqual(self.platform.batches, [29, 29, 22])
        self.assert_all_delivered()

    def test_a_fast_loop_causes_few_requests(self):
        sender = self.open()
        started = time.monotonic()
        while time.monotonic() - started < 0.5:
            self.spool.append("training", 1, {})
            sender.notify()
        self.assertLess(len(self.platform.requests), 12)
        self.assertTrue(sender.flush(5))
        self.assert_all_delivered()

    def test_reports_of_a_forked_process_are_delivered(self):
        sender = self.open()
        pid = os.fork()
        if pid == 0:
            self.spool.append("training", 1, {"from": "child"})
            os._exit(0)
        os.waitpid(pid, 0)
        self.platform.wait_for(lambda: len(self.platform.reports) == 1)
        self.assertTrue(sender.flush(5))
        self.assert_all_delivered()

    def test_invalid_lines_of_the_spool_are_skipped(self):
        self.report(1)
        with open(self.spool.path, "ab") as file:
            file.write(b'{"key":"0-2","group":"trai')
        self.report(1)
        with open(self.spool.path, "ab") as file:
            file.write(b"[1]\nnull\n\n\xff\xfe\n")
        self.assertTrue(self.open().flush(5))
        self.assertEqual(set(self.platform.reports), {"0-1", "0-3"})

    def test_a_new_sender_continues_from_the_recorded_offset(self):
        self.report(3)
        self.assertTrue(self.open().flush(5))
        self.platform.reports.clear()
        self.report(2)
        self.assertTrue(self.open().flush(5))
        self.assertEqual(list(self.platform.reports), ["0-4", "0-5"])

    def test_an_unreadable_offset_only_causes_repeated_deliveries(self):
        self.report(3)
        (self.folder / _spool.ACKED).write_text("not a number")
        self.assertTrue(self.open().flush(5))
        self.assert_all_delivered()

    def test_disk_space_of_delivered_reports_is_freed(self):
        piece = 1 << 16
        with mock.patch.object(_sender, "SPOOL_PIECE_BYTES", piece):
            sender = self.open()
            for _ in range(8):
                self.report(20, text="x" * 20_000)
                sender.notify()
                self.assertTrue(sender.flush(10))
            sender.stop(5.0)
        stat = self.spool.path.stat()
        self.assertGreater(stat.st_size, 3_000_000)
        self.assertLess(stat.st_blocks * 512, _spool.TAIL_BYTES + 3 * piece)
        # The next writer and the next sender continue after the last report.
        self.assertEqual(_spool.Spool(self.folder, 0).append("training", 1, {}), "0-161")
        self.assertTrue(self.open().flush(10))
        self.assertEqual(len(self.platform.reports), 161)

    def test_the_freed_range_of_the_spool_is_skipped_when_the_offset_is_lost(self):
        self.report(400, text="x" * 20_000)
        self.assertTrue(self.open().flush(10))
        with open(self.spool.path, "r+b") as file:
            hole = self.spool.path.stat().st_size - _spool.TAIL_BYTES
            file.write(b"\0" * hole)
        (self.folder / _spool.ACKED).write_text("lost")
        self.report(1)
        self.assertTrue(self.open().flush(10))
        self.assertIn("0-401", self.platform.reports)

    def test_only_one_sender_of_a_run_delivers_at_a_time(self):
        first = self.open()
        self.report(1)
        self.assertTrue(first.flush(5))
        second = self.open()
        self.report(5)
        self.assertTrue(second.flush(5))
        self.assertEqual(set(self.platform.deliveries.values()), {1})
        # After the first sender has stopped, the second one delivers.
        first.stop(5)
        self.report(1)
        self.assertTrue(second.flush(5))
        self.assert_all_delivered()


class Trouble(SenderCase):
    def answer_once(self, answer):
        self.platform.faults = lambda request: answer if request.number == 0 else None

    def test_reports_are_delivered_after_a_503_without_retry_after(self):
        self.answer_once(Answer(503))
        self.report(3)
        self.assertTrue(self.open().flush(5))
        self.assert_all_delivered()

    def test_the_sender_waits_for_retry_after(self):
        arrivals = []

        def faults(request):
            arrivals.append(time.monotonic())
            return (
                problem(503, "unavailable", "later", Retry_After="1")
                if len(arrivals) == 1
                else None
            )

        self.platform.faults = faults
        self.report(1)
        self.assertTrue(self.open().flush(5))
        self.assertGreaterEqual(arrivals[1] - arrivals[0], 1.0)

    def test_reports_are_delivered_after_a_retry_after_date_or_nonsense(self):
        for value in (formatdate(time.time() - 5, usegmt=True), "soon", "-3", "nan", "0"):
            self.answer_once(problem(429, "rate_limited", "slower", Retry_After=value))
            self.platform.requests.clear()
            self.report(1)
            sender = self.open()
            self.assertTrue(sender.flush(5), value)
            sender.stop(5)

    def test_reports_are_delivered_after_a_reset_or_a_lost_answer(self):
        for fault in (RESET, LOSE_ANSWER):
            self.platform.requests.clear()
            self.answer_once(fault)
            self.report(2)
            sender = self.open()
            self.assertTrue(sender.flush(5))
            sender.stop(5)
            self.assert_all_delivered()
        self.assertIn(2, self.platform.deliveries.values())

    def test_reports_are_delivered_after_a_restart_of_the_service(self):
        sender = self.open()
        self.report(1)
        self.assertTrue(sender.flush(5))
        self.platform.stop()
        self.report(2)
        self.assertFalse(sender.flush(0.5))
        self.assertTrue(any("cannot accept reports" in line for line in self.log), self.log)
        self.platform.start()
        self.assertTrue(sender.flush(10))
        self.assert_all_delivered()
        self.assertTrue(any("accepts reports again" in line for line in self.log), self.log)

    def test_a_service_that_never_answers_delays_neither_reports_nor_the_end(self):
        self.platform.faults = lambda request: HANG
        sender = self.open()
        self.report(1)
        sender.notify()
        self.platform.wait_for(lambda: len(self.platform.requests) == 1)
        started = Stopwatch()
        for _ in range(1000):
            self.spool.append("training", 1, {"loss": 0.5})
            sender.notify()
        self.assertLess(started.seconds(), 2.0)
        started = Stopwatch()
        self.assertFalse(sender.flush(0.3))
        sender.stop(5)
        self.assertLess(started.seconds(), 2.0)
        self.assertEqual(self.acked(), 0)

    def test_the_logged_outage_starts_with_the_request_that_hung(self):
        asked = []
        self.platform.faults = lambda request: HANG if asked.append(1) or len(asked) == 1 else None
        with mock.patch("trainyard._sender.SEND_TIMEOUT_S", 1.2):
            sender = self.open()
            self.report(1)
            self.assertTrue(sender.flush(20))
        sender.stop(5)
        again = [line for line in self.log if "accepts reports again, after" in line]
        self.assertEqual(len(again), 1, self.log)
        self.assertNotIn("after 0 s", again[0])

    def test_the_sender_continues_with_one_warning_if_the_run_is_superseded(self):
        self.platform.faults = lambda request: problem(409, "run_superseded", "run 3 was requested")
        sender = self.open()
        for _ in range(2):
            self.report(1)
            self.assertTrue(sender.flush(5))
        self.assertEqual(len(self.platform.requests), 2)
        self.assertEqual(len([line for line in self.log if "superseded" in line]), 1, self.log)

    def test_a_refused_token_leaves_the_reports_in_the_spool(self):
        for status in (401, 403):
            self.platform.requests.clear()
            self.platform.faults = lambda request, status=status: problem(status, "token", "no")
            self.report(1)
            sender = self.open()
            self.assertFalse(sender.flush(5))
            sender.stop(5)
            self.assertEqual(len(self.platform.requests), 1)
        self.assertEqual(self.acked(), 0)
        self.assertTrue(any("refuses this run's token" in line for line in self.log), self.log)

    def test_an_answer_of_a_proxy_neither_refuses_nor_delivers_reports(self):
        script = [of_a_proxy(status) for status in (400, 401, 403, 404, 409, 302, 200)]
        self.platform.faults = lambda request: script.pop() if script else None
        self.report(3)
        self.assertTrue(self.open().flush(60))
        self.assertEqual(script, [])
        self.assert_all_delivered()

    def test_a_413_answer_of_a_proxy_halves_the_batch_too(self):
        self.platform.faults = lambda request: (
            of_a_proxy(413) if len(request.body["reports"]) > 7 else None
        )
        self.report(30)
        self.assertTrue(self.open().flush(10))
        self.assert_all_delivered()

    def test_a_413_answer_halves_the_batch_until_it_fits(self):
        def faults(request):
            return problem(413, "too_large", "less") if len(request.body["reports"]) > 7 else None

        self.platform.faults = faults
        self.report(100)
        self.assertTrue(self.open().flush(10))
        self.assert_all_delivered()
        self.assertEqual(set(self.platform.deliveries.values()), {1})

    def test_an_invalid_report_does_not_prevent_the_delivery_of_others(self):
        def faults(request):
            bad = any(report["stepsCompleted"] == 33 for report in request.body["reports"])
            return problem(400, "invalid_report", "step 33 is unlucky") if bad else None

        self.platform.faults = faults
        for n in range(100):
            self.spool.append("training", n, {})
        self.assertTrue(self.open().flush(10))
        self.assertEqual(len(self.platform.reports), 99)
        self.assertNotIn("0-34", self.platform.reports)
        self.assertTrue(any("0-34" in line and "unlucky" in line for line in self.log), self.log)

    def test_reports_that_the_service_refuses_are_dropped_with_one_warning(self):
        def faults(request):
            self.assertTrue(request.body["refuseAlone"])
            bad = [r["key"] for r in request.body["reports"] if r["stepsCompleted"] % 10 == 3]
            good = {r["key"]: r for r in request.body["reports"] if r["key"] not in bad}
            self.platform.reports.update(good)
            refused = [{"key": key, "reason": "metrics is unlucky"} for key in bad]
            return Answer(200, (), {"accepted": len(good), "refused": refused})

        self.platform.faults = faults
        for n in range(50):
            self.spool.append("training", n, {})
        self.assertTrue(self.open().flush(10))
        self.assertEqual(len(self.platform.reports), 45)
        warned = [line for line in self.log if "refuses 5 reports" in line]
        self.assertEqual(len(warned), 1, self.log)
        self.assertIn("0-4 (metrics is unlucky)", warned[0])
        self.assertEqual(self.acked(), self.spool.size())

    def test_flush_returns_early_if_retry_after_exceeds_its_timeout(self):
        self.platform.faults = lambda request: problem(503, "busy", "later", Retry_After="30")
        self.report(1)
        sender = self.open()
        started = Stopwatch()
        self.assertFalse(sender.flush(5))
        self.assertLess(started.seconds(), 3.0)

    def test_reports_are_delivered_after_answers_of_a_wrong_server(self):
        self.platform.faults = lambda request: Answer(302, (("Location", "/elsewhere"),))
        self.report(1)
        sender = self.open()
        self.assertFalse(sender.flush(0.5))
        self.platform.faults = lambda request: None
        self.assertTrue(sender.flush(10))


if __name__ == "__main__":
    unittest.main()
