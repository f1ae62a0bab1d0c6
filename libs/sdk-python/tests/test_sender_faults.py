"""The sender delivers every report exactly as written, with any schedule of faults of the service."""

from __future__ import annotations

import random
import re
import tempfile
import threading
import unittest
from pathlib import Path

from fake_platform import LOSE_ANSWER, RESET, TOKEN, Answer, problem
from test_sender import RUN, SenderCase

from trainyard import _sender, _spool


class Randomised(SenderCase):
    def test_reports_are_delivered_exactly_under_random_faults(self):
        for seed in range(12):
            with self.subTest(seed=seed):
                self.run_schedule(random.Random(seed))

    def run_schedule(self, draw):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.spool = _spool.Spool(Path(folder.name), 0)
        self.platform.reports.clear()
        self.platform.deliveries.clear()
        kinds = [RESET, LOSE_ANSWER, Answer(500), Answer(503), Answer(502), Answer(404), None, None]
        kinds += [problem(429, "slow", "x", Retry_After="0"), problem(413, "too_large", "x")]
        first = len(self.platform.requests)
        quiet_after = draw.randrange(3, 10)

        def faults(request):
            return draw.choice(kinds) if request.number - first < quiet_after else None

        self.platform.faults = faults
        sender = _sender.Sender(self.spool, self.platform.url, RUN, TOKEN)
        # Shorter waits make the test fast.
        sender._backoff._first_s = sender._backoff._max_s = sender._backoff._bound_s = 0.01
        sender.start()
        writers = [
            threading.Thread(target=self.write, args=(sender, random.Random(draw.random())))
            for _ in range(3)
        ]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        delivered = sender.flush(20)
        sender.stop(5)
        expected = self.expected()
        self.spool.close()
        self.assertTrue(delivered)
        # A single report answered by 413 is dropped with a warning that names it; all others must arrive. A report
        # whose first answer was lost may be refused at its repeat although it has arrived.
        missing = set(expected) - set(self.platform.reports)
        refused = {key for line in self.log for key in re.findall(r"refuses report (\S+) ", line)}
        self.log.clear()
        self.assertLessEqual(missing, refused)
        for key, report in self.platform.reports.items():
            self.assertEqual(report, expected[key])

    def write(self, sender, draw):
        for n in range(draw.randrange(1, 120)):
            self.spool.append(draw.choice(["training", "validation"]), n, {"v": draw.random()})
            sender.notify()


if __name__ == "__main__":
    unittest.main()
