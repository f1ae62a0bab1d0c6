"""The training as a PyTorchTrial; under the launcher it has a process per slot."""

from __future__ import annotations

from typing import Any

import torch
from gate import Gate
from torch import Tensor, nn
from work import BATCH, REPORT_EVERY, network, optimizer_of, samples

from trainyard import pytorch


class Trial(pytorch.PyTorchTrial):
    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        torch.set_num_threads(1)
        self.context = context
        self.model = context.wrap_model(network())
        self.optimizer = context.wrap_optimizer(optimizer_of(self.model))
        self.gate = Gate(context.distributed.rank)

    def build_training_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(samples(), batch_size=BATCH, shuffle=True)

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(samples(), batch_size=BATCH)

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Tensor]:
        self.gate.pass_batch()
        inputs, classes = batch
        loss = nn.functional.cross_entropy(self.model(inputs), classes)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        return {"loss": loss}

    def evaluate_batch(self, batch: Any) -> dict[str, Tensor]:
        inputs, classes = batch
        return {"loss": nn.functional.cross_entropy(self.model(inputs), classes)}


def main() -> None:
    with pytorch.init(hparams={}) as context:
        trainer = pytorch.Trainer(Trial(context), context)
        trainer.fit(
            max_length=pytorch.Batch(1_000_000), reporting_period=pytorch.Batch(REPORT_EVERY)
        )


if __name__ == "__main__":
    main()
