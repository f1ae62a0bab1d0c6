"""A stop reaches the script within a second, and a network failure never raises in the script."""

from __future__ import annotations

import os
import time
import unittest
from unittest import mock

import fake_platform
from fake_platform import HANG, RESET, TOKEN, Answer, FakePlatform, of_a_proxy, problem, wait_until
from stopwatch import Stopwatch
from test_sender import RUN, SenderCase

from trainyard import _signals


class Signals(SenderCase):
    def watch(self):
        watcher = _signals.SignalWatcher(self.platform.url, RUN, TOKEN)
        self.addCleanup(watcher.close)
        return watcher

    def asked(self, times=1):
        self.platform.wait_for(lambda: len(self.platform.requests) >= times)

    def test_a_stop_request_arrives_within_a_second(self):
        watcher = self.watch()
        self.asked()
        self.assertFalse(watcher.stop)
        self.assertEqual(watcher.why, "")
        started = Stopwatch()
        self.platform.ask_to_stop("search_stop")
        wait_until(lambda: watcher.stop)
        self.assertLess(started.seconds(), 1.0)
        self.assertEqual(watcher.why, "search_stop")
        request = self.platform.requests[0]
        self.assertEqual(request.path, "/api/v1/runs/12.3%232/signals")
        self.assertEqual(request.query, {"wait_ms": ["30000"]})

    def test_a_stop_requested_before_the_start_is_seen(self):
        self.platform.ask_to_stop("pause")
        watcher = self.watch()
        wait_until(lambda: watcher.stop)
        self.assertEqual(watcher.why, "pause")

    def test_a_stop_that_is_withdrawn_before_the_script_asks_is_not_seen(self):
        with mock.patch.object(_signals, "SIGNAL_PENDING_S", 0.05):
            self.platform.ask_to_stop("pause")
            watcher = self.watch()
            wait_until(lambda: watcher.why == "pause")
            self.platform.withdraw_stop()
            wait_until(lambda: watcher.why == "")
            self.assertFalse(watcher.stop)
            self.platform.ask_to_stop("preempted")
            wait_until(lambda: watcher.stop)
            self.assertEqual(watcher.why, "preempted")

    def test_a_stop_that_the_script_has_read_stays_when_it_is_withdrawn(self):
        with mock.patch.object(_signals, "SIGNAL_PENDING_S", 0.05):
            self.platform.ask_to_stop("pause")
            watcher = self.watch()
            wait_until(lambda: watcher.stop)
            self.platform.withdraw_stop()
            watcher._thread.join(120)
        self.assertTrue(watcher.stop)
        self.assertEqual(watcher.why, "pause")

    def test_no_further_request_is_sent_after_the_script_has_read_a_stop(self):
        with mock.patch.object(_signals, "SIGNAL_PENDING_S", 0.5):
            self.platform.ask_to_stop("pause")
            watcher = self.watch()
            wait_until(lambda: watcher.stop)
            watcher._thread.join(120)
        self.assertFalse(watcher._thread.is_alive())
        self.assertEqual(len(self.platform.requests), 1)

    def test_failures_of_the_gateway_never_raise_in_the_script(self):
        kinds = [
            RESET,
            Answer(500),
            Answer(503),
            Answer(404),
            problem(429, "slow", "x", Retry_After="0"),
        ]
        kinds += [Answer(200, (), [1]), Answer(200, (), "text"), Answer(200, (), {"stop": "no"})]

        def faults(request):
            return kinds[request.number] if request.number < len(kinds) else None

        self.platform.faults = faults
        watcher = self.watch()
        self.asked(len(kinds) + 1)
        self.assertFalse(watcher.stop)
        self.platform.ask_to_stop("cancel")
        wait_until(lambda: watcher.stop)
        self.assertEqual(watcher.why, "cancel")

    def test_a_stop_request_is_seen_after_an_outage(self):
        watcher = self.watch()
        self.asked()
        self.platform.stop()
        wait_until(lambda: watcher._backoff._bound_s > 0.3)
        self.assertFalse(watcher.stop)
        self.platform.stop_why = "pause"
        self.platform.start()
        wait_until(lambda: watcher.stop)

    def test_a_gateway_that_answers_at_once_is_not_polled_in_a_tight_loop(self):
        self.platform.faults = lambda request: Answer(200, (), {})
        started = time.monotonic()
        self.watch()
        self.asked(3)
        self.assertGreater(time.monotonic() - started, 0.9)

    def test_a_superseded_run_is_stopped(self):
        self.platform.faults = lambda request: problem(409, "run_superseded", "run 3")
        watcher = self.watch()
        wait_until(lambda: watcher.stop)
        self.assertEqual(watcher.why, "superseded")

    def test_an_answer_of_a_proxy_stops_no_run(self):
        script = [of_a_proxy(status) for status in (401, 409, 200)]
        self.platform.faults = lambda request: (
            script.pop() if script else Answer(200, (), {"stop": True, "why": "preempted"})
        )
        watcher = self.watch()
        wait_until(lambda: watcher.stop)
        self.assertEqual((watcher.why, script, self.log), ("preempted", [], []))

    def test_a_refused_token_is_logged_once(self):
        self.platform.faults = lambda request: problem(
            401, "token_expired", "the token has expired"
        )
        watcher = self.watch()
        wait_until(lambda: len(self.log) > 0)
        self.assertFalse(watcher.stop)
        self.assertEqual(sum("refuses this run's token" in line for line in self.log), 1)

    def test_closing_the_watcher_does_not_wait_for_a_hanging_gateway(self):
        self.platform.faults = lambda request: HANG
        watcher = self.watch()
        self.asked()
        started = Stopwatch()
        with mock.patch.object(_signals.log, "debug") as debug:
            watcher.close()
        # Aborting the request is not logged as a failure.
        debug.assert_not_called()
        self.assertLess(started.seconds(), 1.5)
        self.assertFalse(watcher.stop)

    def test_a_stop_file_of_the_agent_is_seen(self):
        self.platform.stop()
        stop_file = self.folder / _signals.STOP_FILE
        watcher = _signals.SignalWatcher(self.platform.url, RUN, TOKEN, stop_file)
        self.addCleanup(watcher.close)
        self.assertFalse(watcher.stop)
        stop_file.write_text('{"why": "shutdown", "atMs": 1}')
        started = Stopwatch()
        wait_until(lambda: watcher.stop)
        self.assertLess(started.seconds(), 1.0)
        self.assertEqual(watcher.why, "shutdown")

    def test_the_stop_file_is_read_at_most_twice_a_second(self):
        stop_file = self.folder / _signals.STOP_FILE
        watcher = _signals.SignalWatcher(self.platform.url, RUN, TOKEN, stop_file)
        self.addCleanup(watcher.close)
        with mock.patch.object(_signals.Path, "read_bytes", side_effect=OSError) as read:
            for _ in range(1000):
                self.assertFalse(watcher.stop)
        self.assertLessEqual(read.call_count, 2)

    def test_a_forked_child_sees_a_stop_request(self):
        watcher = self.watch()
        self.asked()
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                # Reading ``stop`` starts the child's thread.
                assert not watcher.stop
                os.write(write, b"x")
                wait_until(lambda: watcher.stop)
                code = 0
            finally:
                os._exit(code)
        self.addCleanup(os.close, read)
        self.addCleanup(os.close, write)
        os.read(read, 1)
        self.platform.ask_to_stop("pause")
        self.assertEqual(os.waitpid(pid, 0)[1], 0)


class Helper(unittest.TestCase):
    def test_the_fake_platform_refuses_other_runs(self):
        platform = FakePlatform()
        self.addCleanup(platform.stop)
        request = fake_platform.Request("GET", "/api/v1/runs/12.3%233/signals", {}, None, 0)
        self.assertEqual(platform.handle(request).status, 404)


if __name__ == "__main__":
    unittest.main()
