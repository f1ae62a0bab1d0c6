"""A rank that hangs without dying is named, while other ranks wait for it and when they time out."""

from __future__ import annotations

import io
import queue
import unittest
from contextlib import redirect_stderr
from types import SimpleNamespace
from unittest import mock

from test_launch import LaunchCase

from trainyard.pytorch import _watchdog
from trainyard.pytorch._progress import Place

TRAINING = """
    import datetime, time
    from pathlib import Path
    from unittest import mock

    sys.path.insert(0, {tests!r})
    from quick_torch import torch
    from trainyard import pytorch
    from trainyard.pytorch import _watchdog

    torch.set_num_threads(1)
    _watchdog.STALL_S, _watchdog.STALL_LOOK_S = 0.3, 0.05
    from training import LineTrial

    class Hanging(LineTrial):
        def train_batch(self, batch, epoch_idx, batch_idx):
            if rank == 1 and batch_idx == 5:
                self.hang()
            return super().train_batch(batch, epoch_idx, batch_idx)

        def hang(self):
            time.sleep({seconds})

    torch.distributed.init_process_group("gloo", timeout=datetime.timedelta(seconds={timeout}))
    with pytorch.init(hparams={{}}, distributed=together) as context:
        pytorch.Trainer(Hanging(context), context).fit(max_length=pytorch.Batch(8))
    torch.distributed.destroy_process_group()
"""


class Hanging(LaunchCase):
    timeout_s = 480

    def training(self, seconds, timeout):
        tests = __file__.rpartition("/")[0]
        return TRAINING.format(tests=tests, seconds=seconds, timeout=timeout)

    def test_a_hanging_rank_is_named_and_waiting_ranks_are_not(self):
        _, err = self.launch(self.training(600, 4), code=1)
        where = r"rank 1 has been at batch 5 for \d+ s: it is busy, in hang \("
        self.assertRegex(err, rf"(?m)^\[rank=1\] trainyard: {where}")
        self.assertRegex(err, r"(?m)^\[rank=0\] .*rank 0 .* in a call that all ranks make together")
        self.assertRegex(self.end()["message"], rf"^{where}.*; then rank 0: RuntimeError")


class Watching(unittest.TestCase):
    def test_a_rank_that_makes_progress_again_withdraws_its_report(self):
        said, place = queue.SimpleQueue(), Place()
        distributed = SimpleNamespace(size=2, rank=1)
        quick = mock.patch.multiple(_watchdog, STALL_S=0.05, STALL_LOOK_S=0.01)
        with quick, redirect_stderr(io.StringIO()) as printed:
            with mock.patch.object(_watchdog._end, "tell_stall", said.put):
                watch = _watchdog.Watchdog(place, distributed)
                watch.start()
                where = said.get(timeout=120)
                self.assertRegex(
                    where,
                    r"^rank 1 has been at batch 0 .*: it is busy, in test_a_rank_that_makes_progress_again",
                )
                # The rank reports again after twice the time, and then stops reporting.
                self.assertRegex(said.get(timeout=120), "it is busy")
                place.validated += 1
                while said.get(timeout=120) != "":
                    pass
                watch.stop()
        self.assertIn('File "', printed.getvalue())

    def test_a_single_process_is_not_watched(self):
        watch = _watchdog.Watchdog(Place(), SimpleNamespace(size=1, rank=0))
        watch.start()
        self.assertIsNone(watch._thread)
        watch.stop()


if __name__ == "__main__":
    unittest.main()
