"""A trial in several processes, run by test_replicas.py. The first argument selects its actions."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from pathlib import Path

import torch
from training import LineTrial

from trainyard import pytorch


def rank():
    return int(os.environ["RANK"])


class Replicated(LineTrial):
    """Stops or dies on one rank, as the environment defines."""

    clip = True

    def __init__(self, context):
        super().__init__(context)
        self.exchanges = 0

    def build_model(self):
        sizes = [3, 8 + rank()] if sys.argv[1] == "mismatched" else [3, 8]
        return torch.nn.Sequential(
            torch.nn.Linear(*sizes),
            torch.nn.BatchNorm1d(sizes[1]),
            torch.nn.Dropout(0.3),
            torch.nn.Linear(sizes[1], 1),
        )

    def train_batch(self, batch, epoch_idx, batch_idx):
        if sys.argv[1] == "dying" and rank() == 1 and batch_idx == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        if sys.argv[1] == "stopping" and rank() == 1 and batch_idx == 5:
            self.context.set_stop_requested(True)
        metrics = super().train_batch(batch, epoch_idx, batch_idx)
        gradients = [p.grad for p in self.model.parameters() if p.grad is not None]
        return {**metrics, "chance": random.random(), "gradients": len(gradients)}


def count_exchanges(trial):
    """Counts the exchanges of gradients, and averages them like PyTorch."""

    def hook(_, bucket):
        trial.exchanges += 1
        total = bucket.buffer().div_(2)
        return (
            torch.distributed.all_reduce(total, async_op=True)
            .get_future()
            .then(lambda done: done.value()[0])
        )

    trial.model.register_comm_hook(None, hook)


def main():
    frequency = 3 if sys.argv[1] in ("plain", "dying", "longer") else 1
    with pytorch.init(hparams={}, aggregation_frequency=frequency) as context:
        trial = Replicated(context)
        if context.distributed.size > 1:
            count_exchanges(trial)
        length = {"stopping": 1_000_000, "longer": 16}.get(sys.argv[1], 14)
        pytorch.Trainer(trial, context).fit(
            max_length=pytorch.Batch(length),
            reporting_period=pytorch.Batch(2),
            validation_period=pytorch.Batch(5),
            checkpoint_period=None if sys.argv[1] == "stopping" else pytorch.Batch(2),
            checkpoint_policy="none",
        )
        out = Path(os.environ["TRAINYARD_LOCAL_DIR"])
        torch.save(trial.model.state_dict(), out / f"weights-{rank()}.pt")
        said = {"batches": len(trial.seen), "exchanges": trial.exchanges}
        (out / f"said-{rank()}.json").write_text(json.dumps(said))
