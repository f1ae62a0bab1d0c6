"""A network that learns from a table. An ASHA search chooses the network's shape and its training.

python3 train.py                      alone, with the hyperparameters below
python3 train.py width=16 epochs=2
"""

import json
import os
import sys
from typing import Any, Optional

import torch
from table import COLUMNS, table
from torch import Tensor, nn

from trainyard import pytorch

# Default hyperparameters for a run without the platform; a trial gets its values from the search.
LOCAL_HPARAMS = {
    "learning_rate": 0.01,
    "weight_decay": 0.0001,
    "layers": 2,
    "width": 32,
    "dropout": 0.0,
    "batch_size": 64,
    "rows": 2048,
    "epochs": 8,
}


class TableTrial(pytorch.PyTorchTrial):
    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        self.context = context
        self.model = context.wrap_model(network(context.get_hparams()))
        self.optimizer = context.wrap_optimizer(
            torch.optim.AdamW(
                self.model.parameters(),
                lr=context.get_hparam("learning_rate"),
                weight_decay=context.get_hparam("weight_decay"),
            )
        )

    def build_training_data_loader(self) -> pytorch.DataLoader:
        rows, batch_size = self.context.get_hparam("rows"), self.context.get_hparam("batch_size")
        return pytorch.DataLoader(table(rows, seed=1), batch_size=batch_size, shuffle=True)

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(table(1024, seed=2), batch_size=256)

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Tensor]:
        columns, target = batch
        loss = nn.functional.mse_loss(self.model(columns), target)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        return {"loss": loss}

    def evaluate_batch(self, batch: Any) -> dict[str, Tensor]:
        columns, target = batch
        return {"validation_loss": nn.functional.mse_loss(self.model(columns), target)}


def network(hparams: dict[str, Any]) -> nn.Module:
    width, inputs = hparams["width"], COLUMNS
    layers = []
    for _ in range(hparams["layers"]):
        layers += [nn.Linear(inputs, width), nn.ReLU(), nn.Dropout(hparams["dropout"])]
        inputs = width
    return nn.Sequential(*layers, nn.Linear(inputs, 1))


def local_hparams() -> Optional[dict[str, Any]]:
    """Returns LOCAL_HPARAMS, overridden by arguments name=value; None in a task, which has its
    values.
    """
    if "TRAINYARD_TRIAL_ID" in os.environ:
        return None
    given = dict(argument.split("=", 1) for argument in sys.argv[1:])
    return {**LOCAL_HPARAMS, **{name: json.loads(value) for name, value in given.items()}}


def main() -> None:
    with pytorch.init(hparams=local_hparams()) as context:
        trainer = pytorch.Trainer(TableTrial(context), context)
        trainer.fit(
            max_length=pytorch.Epoch(context.get_hparam("epochs")),
            # The search decides by validation metrics, so the trial validates after every epoch.
            validation_period=pytorch.Epoch(1),
            reporting_period=pytorch.Batch(32),
        )


if __name__ == "__main__":
    main()
