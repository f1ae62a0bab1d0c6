"""Compare how long a training waits for a checkpoint and for torch.save; prints JSON (ms)."""

from __future__ import annotations

import json
import os
import time
from typing import Any

import torch
from torch import Tensor, nn
from work import BATCH, network, optimizer_of, samples

from trainyard import pytorch

CHECKPOINTS = int(os.environ["BENCH_CHECKPOINTS"])
# The number of batches between checkpoints, enough for a checkpoint to be written before the next.
PERIOD = 40


class Trial(pytorch.PyTorchTrial):
    """A trial with a checkpoint every 40 batches, and a torch.save midway between two of them."""

    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        torch.set_num_threads(1)
        self.context = context
        self.model = context.wrap_model(network())
        self.optimizer = context.wrap_optimizer(optimizer_of(self.model))
        self.left = 0.0
        self.between: list[float] = []
        self.stored: list[float] = []
        self.saved: list[float] = []

    def build_training_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(samples(), batch_size=BATCH, shuffle=True)

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(samples(), batch_size=BATCH)

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Tensor]:
        if batch_idx > PERIOD:
            waited = time.perf_counter() - self.left
            (self.between if batch_idx % PERIOD else self.stored).append(waited)
        inputs, classes = batch
        loss = nn.functional.cross_entropy(self.model(inputs), classes)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        if batch_idx % PERIOD == PERIOD // 2:
            self.save()
        self.left = time.perf_counter()
        return {"loss": loss}

    def save(self) -> None:
        began = time.perf_counter()
        state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        torch.save(state, os.environ["BENCH_FILE"])
        self.saved.append(time.perf_counter() - began)

    def evaluate_batch(self, batch: Any) -> dict[str, Tensor]:
        return {"inputs": batch[0].sum()}


def median(seconds: list[float]) -> float:
    return sorted(seconds)[len(seconds) // 2]


def main() -> None:
    with pytorch.init(hparams={}) as context:
        trial = Trial(context)
        pytorch.Trainer(trial, context).fit(
            max_length=pytorch.Batch(PERIOD * (CHECKPOINTS + 1) + 1),
            checkpoint_period=pytorch.Batch(PERIOD),
            checkpoint_policy="none",
        )
    found = {
        "ours": 1000 * (median(trial.stored) - median(trial.between)),
        "plain": 1000 * median(trial.saved),
        "mebibytes": os.path.getsize(os.environ["BENCH_FILE"]) / 2**20,
    }
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
