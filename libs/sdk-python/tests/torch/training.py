"""Helpers for the tests of the trainer: small trials, runs with a folder, and kills within the training."""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import numpy
import torch

from trainyard import pytorch


class Points(torch.utils.data.Dataset):
    """Points on a line, with noise that depends on the sample and noise that is drawn at each loading."""

    def __init__(self, count=40, noisy=False):
        self.count = count
        self.noisy = noisy

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        x = torch.tensor([index / self.count, (index % 7) / 7, 1.0])
        if self.noisy:
            x = x + 0.1 * torch.rand(3) + 0.1 * random.random() + 0.1 * numpy.random.rand()
        y = torch.tensor([2 * index / self.count - 0.5])
        return {"x": x.float(), "y": y}


class Killed(BaseException):
    """Simulates a killed process: the trainer does not handle this exception."""


class LineTrial(pytorch.PyTorchTrial):
    """Fits the points with a small network with dropout. Class attributes configure it."""

    batch_size = 4
    workers = 0
    noisy = False
    amp = False
    clip = False
    kill_at = -1

    def __init__(self, context):
        self.context = context
        if self.amp:
            context.experimental.use_amp()
        self.model = context.wrap_model(self.build_model())
        self.optimizer = context.wrap_optimizer(self.build_optimizer(self.model))
        self.seen = []

    def build_model(self):
        return torch.nn.Sequential(
            torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Dropout(0.3), torch.nn.Linear(8, 1)
        )

    def build_optimizer(self, model):
        return torch.optim.AdamW(model.parameters(), lr=0.01)

    def build_training_data_loader(self):
        return pytorch.DataLoader(
            Points(noisy=self.noisy),
            batch_size=self.batch_size,
            shuffle=True,
            num_workers=self.workers,
        )

    def build_validation_data_loader(self):
        return pytorch.DataLoader(Points(10), batch_size=4)

    def loss(self, batch):
        return torch.nn.functional.mse_loss(self.model(batch["x"]).float(), batch["y"])

    def train_batch(self, batch, epoch_idx, batch_idx):
        self.seen.append((epoch_idx, batch_idx))
        if batch_idx == self.kill_at:
            raise Killed
        loss = self.loss(batch)
        self.context.backward(loss)
        clip = (lambda p: torch.nn.utils.clip_grad_norm_(p, 0.1)) if self.clip else None
        self.context.step_optimizer(self.optimizer, clip_grads=clip)
        return {"loss": loss}

    def evaluate_batch(self, batch):
        return {"error": self.loss(batch)}


class TrainerCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        environment = mock.patch.dict(os.environ)
        environment.start()
        self.addCleanup(environment.stop)
        for name in [name for name in os.environ if name.startswith("TRAINYARD_")]:
            del os.environ[name]

    def train(self, kind=LineTrial, name="a", init=None, **fit) -> Any:
        """Trains in a folder, continuing from its latest checkpoint. Returns the trial."""
        os.environ["TRAINYARD_LOCAL_DIR"] = str(self.folder / name)
        fit = {"max_length": pytorch.Batch(10), "reporting_period": pytorch.Batch(3), **fit}
        self.printed = io.StringIO()
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(self.printed):
            with pytorch.init(**{"hparams": {}, **(init or {})}) as context:
                trial = kind(context)
                pytorch.Trainer(trial, context).fit(**fit)
        return trial

    def killed_at(self, batch, kind=LineTrial, name="a", init=None, **fit):
        """Trains like ``train``, but the process is killed within a batch, and its memory is discarded."""
        try:
            self.train(type("Dying", (kind,), {"kill_at": batch}), name, init, **fit)
        except Killed:
            pass
        else:
            self.fail(f"the training ended before batch {batch}")
        random.seed()
        numpy.random.seed()
        torch.seed()

    def reports(self, name="a", group=None):
        """Returns the reports of each step, by group; later runs replace earlier ones."""
        found = {}
        runs = sorted((self.folder / name).glob("run-*"), key=lambda run: int(run.name[4:]))
        for run in runs:
            path = run / "spool" / "reports.ndjson"
            for line in path.read_text().splitlines() if path.exists() else []:
                report = json.loads(line)
                found[report["group"], report.get("stepsCompleted", 0)] = report["metrics"]
        if group is None:
            return found
        return {step: metrics for (of, step), metrics in found.items() if of == group}

    def checkpoints(self, name="a"):
        """Returns the steps of the complete checkpoints, in order."""
        index = self.folder / name / "checkpoints" / "complete.ndjson"
        if not index.exists():
            return []
        return [
            json.loads((index.parent / json.loads(line)["uuid"] / "metadata.json").read_text())[
                "steps_completed"
            ]
            for line in index.read_text().splitlines()
            if line
        ]

    def latest(self, name="a"):
        """Returns the folder of the latest checkpoint."""
        index = self.folder / name / "checkpoints" / "complete.ndjson"
        lines = [line for line in index.read_text().splitlines() if line]
        return index.parent / json.loads(lines[-1])["uuid"]

    def assert_same_weights(self, one, other):
        mine, its = one.state_dict(), other.state_dict()
        self.assertEqual(list(mine), list(its))
        for key in mine:
            self.assertTrue(torch.equal(mine[key], its[key]), key)
