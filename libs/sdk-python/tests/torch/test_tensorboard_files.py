"""TensorBoard reads the files of a trial's runs: its SummaryWriter's files and the copied metrics."""

from __future__ import annotations

import contextlib
import io
import tempfile
import unittest
import warnings
from pathlib import Path

import torch

import trainyard
from trainyard.profiler import TorchProfiler


def scalars(folder, tag):
    """Returns the steps and values that TensorBoard reads from a folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        events = EventAccumulator(str(folder), purge_orphaned_data=True)
        events.Reload()
    return [(event.step, round(event.value, 4)) for event in events.Scalars(tag)]


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def init(self):
        with contextlib.redirect_stderr(io.StringIO()):
            return trainyard.init(local_dir=self.folder)

    def train(self, steps, store_at=None):
        with self.init() as ctx, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ctx.tensorboard.mirror_metrics()
            writer = ctx.tensorboard.writer()
            for step in range(int(ctx.info.steps_completed) + 1, steps + 1):
                loss = ctx.info.run + step / 10
                ctx.train.report_training_metrics(step, {"loss": loss})
                writer.add_scalar("mine", loss, step)
                if step == store_at:
                    with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _):
                        (path / "model").write_text("")
            return ctx.tensorboard.path

    def test_tensorboard_shows_repeated_steps_of_the_next_run_once(self):
        path = self.train(4, store_at=2)
        self.train(5)
        want = [(1, 1.1), (2, 1.2), (3, 2.3), (4, 2.4), (5, 2.5)]
        self.assertEqual(scalars(path / "metrics", "training/loss"), want)
        self.assertEqual(scalars(path, "mine"), want)

    def test_traces_of_the_torch_profiler_are_in_the_tensorboard_folder(self):
        with self.init() as ctx:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                profiler = TorchProfiler(
                    ctx.tensorboard.path, 0, activities=[torch.profiler.ProfilerActivity.CPU]
                )
                profiler.start()
                for _ in range(6):
                    torch.ones(4).sum()
                    profiler.step()
                profiler.stop()
                profiler.stop()
            traces = list(ctx.tensorboard.path.glob("rank-0.*.pt.trace.json.gz"))
        self.assertEqual(len(traces), 1)


if __name__ == "__main__":
    unittest.main()
