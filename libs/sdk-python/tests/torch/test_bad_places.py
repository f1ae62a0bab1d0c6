"""A mistake outside of the trial's methods raises an error of one sentence with the correction."""

from __future__ import annotations

import logging
import os
import resource
import signal
import unittest
from multiprocessing import resource_sharer
from unittest import mock

import torch
from test_bad_input import BadInputCase
from torch.utils.data import get_worker_info
from training import LineTrial, Points

from trainyard import pytorch
from trainyard.errors import CheckpointError
from trainyard.pytorch import _source

Batch = pytorch.Batch


class Dying(Points):
    """A dataset with a sample that kills the process that loads it."""

    def __getitem__(self, index):
        if get_worker_info() is not None and index == 17:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(index)


class Total(pytorch.MetricReducer):
    """A reducer whose state cannot be pickled."""

    def __init__(self):
        self.function = [lambda: 0]
        self.reset()

    def reset(self):
        self.total = 0.0

    def update(self, value):
        self.total += value

    def per_slot_reduce(self):
        return self.total

    def cross_slot_reduce(self, per_slot_metrics):
        return sum(per_slot_metrics)


class Stateful(Total):
    def state_dict(self):
        return {"total": self.total}

    def load_state_dict(self, state_dict):
        self.total = state_dict["total"]


class Data(BadInputCase):
    def test_a_loader_without_samples_is_refused(self):
        for method in ("build_training_data_loader", "build_validation_data_loader"):
            for shuffle, words in ((False, (method,)), (True, ("DataLoader(shuffle=True)",))):

                def loader(_, shuffle=shuffle):
                    return pytorch.DataLoader(Points(0), 4, shuffle=shuffle)

                kind = self.made(**{method: loader})
                self.refused(*words, "give", kind=kind, error=ValueError)

    def test_a_validation_loader_without_a_batch_is_refused(self):
        loader = pytorch.DataLoader(Points(2), 4, drop_last=True)
        kind = self.made(build_validation_data_loader=lambda _: loader)
        self.refused("build_validation_data_loader()", "drop_last", kind=kind, error=ValueError)

    def test_a_killed_worker_process_is_explained_in_the_error(self):
        for method in ("build_training_data_loader", "build_validation_data_loader"):
            loader = pytorch.DataLoader(Dying(), 4, num_workers=2)
            kind = self.made(**{method: lambda _, made=loader: made})
            # torch's error differs: from the signal handler, or when the batch is missing.
            words = (f"{method}()", "is gone (DataLoader worker", "num_workers=0")
            self.refused(*words, kind=kind, error=RuntimeError)

    def test_a_broken_connection_to_a_worker_process_is_explained_without_torchs_signal(self):
        # torch raises its error wherever the signal arrives, also where Python drops exceptions.
        signals = mock.patch.object(_source, "_SIGNAL_S", 0.0)
        gone = mock.patch("multiprocessing.connection.Client", side_effect=EOFError)
        descriptor = resource_sharer.DupFd(0)
        self.addCleanup(resource_sharer.stop)
        with signals, gone:
            with self.assertRaisesRegex(RuntimeError, r"is gone \(DataLoader worker"):
                with _source.worker_loss_explained():
                    descriptor.detach()
            with self.assertRaises(EOFError), _source.worker_loss_explained():
                raise EOFError

    def test_a_killed_worker_process_is_explained_while_the_training_ends(self):
        class Late(pytorch.PyTorchCallback):
            def on_trial_shutdown(self):
                raise KeyError("late")

        def fails(*_):
            raise ValueError("early")

        def signalled(*_):
            # Torch's signal handler raises this error, outside of any callback.
            raise RuntimeError("DataLoader worker (pid 7) is killed by signal: Killed. ")

        kind = self.made(train_batch=fails, build_callbacks=lambda _: {"late": Late()})
        words = ("is killed by signal: Killed)", "num_workers=0")
        with mock.patch.object(logging.getLogger("trainyard.pytorch"), "warning", signalled):
            self.refused(*words, kind=kind, error=RuntimeError)

    def test_a_killed_worker_is_explained_if_its_signal_comes_after_its_socket_closed(self):
        def train_batch(trial, batch, epoch_idx, batch_idx):
            # Torch's signal handler raises this error.
            def signalled(*_):
                raise RuntimeError("DataLoader worker (pid 7) is killed by signal: Killed. ")

            signal.signal(signal.SIGALRM, signalled)
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            raise ConnectionResetError("Connection reset by peer")

        self.addCleanup(signal.signal, signal.SIGALRM, signal.getsignal(signal.SIGALRM))
        kind = self.made(train_batch=train_batch)
        words = ("is killed by signal: Killed)", "num_workers=0")
        self.refused(*words, kind=kind, error=RuntimeError)

    def test_a_connection_error_without_worker_processes_is_unchanged(self):
        def train_batch(trial, batch, epoch_idx, batch_idx):
            raise ConnectionResetError("the object store is gone")

        kind = self.made(train_batch=train_batch)
        self.refused("the object store is gone", kind=kind, error=ConnectionResetError)

    def test_a_worker_process_killed_during_a_training_batch_is_explained(self):
        def train_batch(trial, batch, epoch_idx, batch_idx):
            # Torch's signal handler raises this error.
            raise RuntimeError("DataLoader worker (pid 7) is killed by signal: Killed. ")

        kind = self.made(train_batch=train_batch)
        words = ("is killed by signal: Killed)", "num_workers=0")
        self.refused(*words, kind=kind, error=RuntimeError)

    def test_a_complex_or_empty_metric_is_refused(self):
        for value in (torch.tensor(1j), torch.zeros((), device="meta")):
            for method in ("train_batch", "evaluate_batch"):
                kind = self.made(**{method: lambda *_, v=value: {"accuracy": v}})
                self.refused("'accuracy'", method, "real number", kind=kind, error=ValueError)
                self.folder = self.folder / "next"
                self.folder.mkdir()


class Parts(BadInputCase):
    def test_a_model_on_the_meta_device_is_refused(self):
        kind = self.made(build_model=lambda _: torch.nn.Linear(3, 1, device="meta"))
        self.refused("wrap_model()", "to_empty", kind=kind, error=ValueError)

    def test_an_optimizer_that_needs_a_closure_is_refused(self):
        kind = self.made(build_optimizer=lambda _, model: torch.optim.LBFGS(model.parameters()))
        self.refused("step_optimizer()", "optimizer.step(closure)", kind=kind, error=TypeError)

    def test_a_reducer_whose_state_cannot_be_pickled_is_refused(self):
        def with_reducer(reducer):
            def init(trial, context):
                LineTrial.__init__(trial, context)
                trial.reducer = context.wrap_reducer(reducer(), "total", for_validation=False)

            def train_batch(trial, batch, epoch_idx, batch_idx):
                trial.reducer.update(batch_idx)
                return LineTrial.train_batch(trial, batch, epoch_idx, batch_idx)

            return self.made(__init__=init, train_batch=train_batch)

        self.refused("reducer", "state_dict()", kind=with_reducer(Total), error=TypeError)
        kind, fit = with_reducer(Stateful), {"checkpoint_period": Batch(1)}
        self.train(kind, "whole", **fit)
        self.killed_at(5, kind, "killed", **fit)
        self.train(kind, "killed", **fit)
        self.assertEqual(self.reports("whole"), self.reports("killed"))

    def test_a_scaler_is_updated_only_at_batches_with_an_optimizer_step(self):
        class Scaled(LineTrial):
            def __init__(self, context):
                super().__init__(context)
                self.scaler = context.wrap_scaler(torch.amp.GradScaler("cpu"))

            def train_batch(self, batch, epoch_idx, batch_idx):
                loss = self.loss(batch)
                self.context.backward(self.scaler.scale(loss))
                if batch_idx < 7:
                    self.context.step_optimizer(self.optimizer, scaler=self.scaler)
                self.scaler.update()
                return {"loss": loss}

        gathering = {"init": {"aggregation_frequency": 4}}
        trial = self.train(Scaled, max_length=Batch(7), **gathering)
        self.assertEqual(trial.scaler.state_dict()["_growth_tracker"], 1)
        # Eight batches have two steps; the trial forgets the second one.
        with self.assertRaisesRegex(AssertionError, "No inf checks"):
            self.train(Scaled, "b", **gathering)


class Checkpoints(BadInputCase):
    def test_a_full_storage_is_named_in_the_error(self):
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, before[1]))
        try:
            self.refused("state_dict.pth", "could not be written", "is full", error=OSError)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    def test_a_checkpoint_with_a_changed_file_is_refused(self):
        for n, name in enumerate(("state_dict.pth", "rank-0.pth")):
            self.train(name=str(n), max_length=Batch(2))
            path = self.latest(str(n)) / name
            content = bytearray(path.read_bytes())
            content[len(content) // 2] ^= 1
            path.write_bytes(content)
            words = (name, "its content differs", "start without one")
            self.refused(*words, name=str(n), error=CheckpointError)

    def test_a_checkpoint_of_another_optimizer_or_scheduler_class_is_refused(self):
        def sgd(_, model):
            return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

        def scheduled(kind, argument):
            def init(trial, context):
                LineTrial.__init__(trial, context)
                mode = pytorch.LRScheduler.StepMode.STEP_EVERY_BATCH
                context.wrap_lr_scheduler(kind(trial.optimizer, argument), mode)

            return self.made(__init__=init)

        rates = torch.optim.lr_scheduler
        self.train()
        words = ("the optimizer 0 AdamW, and the trial has SGD", "start without the checkpoint")
        self.refused(*words, kind=self.made(build_optimizer=sgd), error=ValueError)
        self.train(scheduled(rates.StepLR, 5), name="b")
        words = (
            "the scheduler 0 StepLR, and the trial has CosineAnnealingLR",
            "start without the checkpoint",
        )
        cosine = scheduled(rates.CosineAnnealingLR, 5)
        self.refused(*words, kind=cosine, name="b", error=ValueError)


class Ends(BadInputCase):
    def test_of_two_errors_the_trainings_is_raised_and_the_shutdowns_logged(self):
        class Failing(pytorch.PyTorchCallback):
            def on_trial_shutdown(self):
                raise KeyError("late")

        def fails(*_):
            raise ValueError("early")

        callbacks = {"build_callbacks": lambda _: {"failing": Failing()}}
        with self.assertLogs("trainyard.pytorch", "WARNING") as logged:
            self.refused("early", kind=self.made(train_batch=fails, **callbacks), error=ValueError)
        self.assertIn("KeyError: 'late'", logged.output[0])
        self.refused("late", kind=self.made(**callbacks), error=KeyError, name="b")

    def test_gradients_are_on_again_if_an_error_interrupts_the_end_of_a_part_without_them(self):
        def interrupted(*_):
            torch.set_grad_enabled(False)
            raise ValueError("a signal came")

        self.addCleanup(torch.set_grad_enabled, True)
        self.refused("a signal came", kind=self.made(train_batch=interrupted), error=ValueError)
        self.assertTrue(torch.is_grad_enabled())

    def test_the_shutdown_hook_runs_after_a_failed_startup_hook(self):
        said = []

        class Told(pytorch.PyTorchCallback):
            def on_trial_startup(self, first_batch_idx, checkpoint_uuid):
                raise ValueError("no start")

            def on_trial_shutdown(self):
                said.append("end")

        kind = self.made(build_callbacks=lambda _: {"told": Told()})
        self.refused("no start", kind=kind, error=ValueError)
        self.assertEqual(said, ["end"])


if __name__ == "__main__":
    unittest.main()
