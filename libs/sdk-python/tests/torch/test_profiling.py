"""Profiling of a trial does not change its training, and the profile is complete."""

from __future__ import annotations

import gzip
import json
import time
import unittest
import warnings

import torch
from training import LineTrial, TrainerCase

from trainyard import pytorch

PROFILED = {"exp_conf": {"profiling": {"enabled": True}}}


class Slow(LineTrial):
    """A trial that is slow enough to be sampled."""

    def train_batch(self, batch, epoch_idx, batch_idx):
        time.sleep(0.02)
        return super().train_batch(batch, epoch_idx, batch_idx)


class Traced(LineTrial):
    def __init__(self, context):
        super().__init__(context)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            context.set_profiler(activities=[torch.profiler.ProfilerActivity.CPU])


class Written(LineTrial):
    def __init__(self, context):
        super().__init__(context)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.writer = context.get_tensorboard_writer()
        assert context.get_tensorboard_writer() is self.writer

    def train_batch(self, batch, epoch_idx, batch_idx):
        self.writer.add_scalar("mine", batch_idx, batch_idx)
        return super().train_batch(batch, epoch_idx, batch_idx)


class ProfilingCase(TrainerCase):
    def lines(self, name="a"):
        path = self.folder / name / "run-1/spool/reports.ndjson"
        return [json.loads(line) for line in path.read_text().splitlines()]

    def of_machines(self, name="a"):
        return [line for line in self.lines(name) if "system" in line]

    def of_training(self, name="a"):
        return [
            (line["group"], line["stepsCompleted"], line["metrics"])
            for line in self.lines(name)
            if "system" not in line
        ]

    def throughput(self, name):
        (line,) = [line for line in self.of_machines(name) if line["group"] == "throughput"]
        return {value["name"]: value["mean"] for value in line["system"]["values"]}


class Training(ProfilingCase):
    def test_a_training_has_the_same_weights_with_and_without_profiling(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            traced = self.train(Traced, name="on", init=PROFILED, max_length=pytorch.Batch(20))
        plain = self.train(
            name="off", init={"enable_tensorboard_logging": False}, max_length=pytorch.Batch(20)
        )
        for mine, theirs in zip(traced.model.parameters(), plain.model.parameters()):
            self.assertTrue(torch.equal(mine, theirs))
        self.assertEqual(self.of_training("on"), self.of_training("off"))
        self.assertEqual(self.of_machines("off"), [])
        self.assertFalse((self.folder / "off/tensorboard").exists())

    def test_the_throughput_has_the_batches_and_their_samples(self):
        self.train(Slow, init=PROFILED, max_length=pytorch.Batch(12))
        found = self.throughput("a")
        self.assertGreater(found["batches_per_second"], 1)
        ratio = found["samples_per_second"] / found["batches_per_second"]
        self.assertAlmostEqual(ratio, Slow.batch_size, 3)
        self.assertEqual({line["stepsCompleted"] for line in self.of_machines()}, {12})

    def test_get_batch_length_is_used_and_may_fail(self):
        class Told(Slow):
            def get_batch_length(self, batch):
                return 100

        class Silent(Slow):
            def get_batch_length(self, batch):
                raise KeyError("no such thing")

            def evaluate_full_dataset(self, data_loader):
                return {"error": 0.0}

            evaluate_batch = pytorch.PyTorchTrial.evaluate_batch

        self.train(Told, init=PROFILED, max_length=pytorch.Batch(6))
        found = self.throughput("a")
        ratio = found["samples_per_second"] / found["batches_per_second"]
        self.assertAlmostEqual(ratio, 100, 2)
        self.train(Silent, name="b", init=PROFILED, max_length=pytorch.Batch(6))
        self.assertEqual(list(self.throughput("b")), ["batches_per_second"])

    def test_profiling_enabled_in_fit_samples_the_machine(self):
        self.train(Slow, max_length=pytorch.Batch(6), profiling_enabled=True)
        groups = {line["group"] for line in self.of_machines()}
        self.assertLessEqual({"cpu", "throughput"}, groups)

    def test_configure_profiler_limits_the_sampled_batches(self):
        class Bounded(LineTrial):
            def __init__(self, context):
                super().__init__(context)
                trainer = pytorch.Trainer(self, context)
                trainer.configure_profiler(True, begin_on_batch=1000)
                with self_.assertRaisesRegex(ValueError, "^Trainer.configure_profiler"):
                    trainer.configure_profiler(True, begin_on_batch=9, end_after_batch=3)

            def train_batch(self, batch, epoch_idx, batch_idx):
                # Two samples are due in ten batches.
                time.sleep(0.2)
                return super().train_batch(batch, epoch_idx, batch_idx)

        self_ = self
        # Profiling is not also enabled in the configuration: a slow start would be sampled before the trainer sets
        # the batches.
        self.train(Bounded)
        self.assertEqual(self.of_machines(), [])

    def test_traces_are_stored_with_the_tensorboard_files(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.train(Traced)
        (trace,) = (self.folder / "a/tensorboard").glob("rank-0.*.pt.trace.json.gz")
        with gzip.open(trace) as file:
            names = {event.get("name", "") for event in json.load(file)["traceEvents"]}
        steps = {name for name in names if name.startswith("ProfilerStep#")}
        self.assertEqual(steps, {"ProfilerStep#2", "ProfilerStep#3", "ProfilerStep#4"})
        self.assertIn("aten::linear", names)

    def test_metrics_and_the_trials_events_are_readable_in_tensorboard(self):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        self.train(Written)
        own = EventAccumulator(str(self.folder / "a/tensorboard")).Reload()
        self.assertEqual([event.step for event in own.Scalars("mine")], list(range(10)))
        mirrored = EventAccumulator(str(self.folder / "a/tensorboard/metrics")).Reload()
        self.assertEqual([event.step for event in mirrored.Scalars("training/loss")], [3, 6, 9, 10])
        (error,) = mirrored.Scalars("validation/error")
        (reported,) = self.reports("a", "validation").values()
        self.assertAlmostEqual(error.value, reported["error"], 5)

    def test_a_trial_that_is_loaded_for_inference_adds_no_tensorboard_files(self):
        self.train(Written)
        written = set((self.folder / "a/tensorboard").rglob("*"))
        (checkpoint,) = [one.parent for one in (self.folder / "a").rglob("metadata.json")]
        loaded = pytorch.load_trial_from_checkpoint_path(checkpoint, Written)
        loaded.writer.add_scalar("mine", 1, 1)
        loaded.writer.close()
        self.assertEqual(set((self.folder / "a/tensorboard").rglob("*")), written)


if __name__ == "__main__":
    unittest.main()
