"""A convolutional network that classifies shapes, on one slot or many, with the same code.

python3 train.py                              alone, with the hyperparameters below
python3 train.py learning_rate=0.1 epochs=2
"""

import json
import os
import sys
from typing import Any, Optional

import torch
from shapes import KINDS, SIDE, shapes
from torch import Tensor, nn

from trainyard import pytorch

# Default hyperparameters for a run without the platform; a trial gets its values from the search.
LOCAL_HPARAMS = {
    "learning_rate": 0.05,
    "momentum": 0.9,
    "filters": 8,
    "batch_size": 32,
    "pictures": 2048,
    "epochs": 8,
}


class ShapesTrial(pytorch.PyTorchTrial):
    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        self.context = context
        self.model = context.wrap_model(network(context.get_hparam("filters")))
        self.optimizer = context.wrap_optimizer(
            torch.optim.SGD(
                self.model.parameters(),
                lr=context.get_hparam("learning_rate"),
                momentum=context.get_hparam("momentum"),
            )
        )

    def build_training_data_loader(self) -> pytorch.DataLoader:
        pictures = shapes(self.context.get_hparam("pictures"), seed=1)
        # The batch size is per slot: four slots train on four times as many pictures per step.
        batch_size = self.context.get_hparam("batch_size")
        return pytorch.DataLoader(pictures, batch_size=batch_size, shuffle=True)

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(shapes(512, seed=2), batch_size=128)

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Tensor]:
        pictures, kinds = batch
        loss = nn.functional.cross_entropy(self.model(pictures), kinds)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        return {"loss": loss}

    def evaluate_batch(self, batch: Any) -> dict[str, Tensor]:
        pictures, kinds = batch
        scores = self.model(pictures)
        right = scores.argmax(dim=1) == kinds
        return {
            "validation_loss": nn.functional.cross_entropy(scores, kinds),
            "accuracy": right.float().mean(),
        }


def network(filters: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, filters, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(filters, 2 * filters, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(2 * filters * (SIDE // 4) ** 2, len(KINDS)),
    )


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
        trainer = pytorch.Trainer(ShapesTrial(context), context)
        trainer.fit(
            max_length=pytorch.Epoch(context.get_hparam("epochs")),
            validation_period=pytorch.Epoch(1),
            checkpoint_period=pytorch.Epoch(1),
            reporting_period=pytorch.Batch(16),
        )


if __name__ == "__main__":
    main()
