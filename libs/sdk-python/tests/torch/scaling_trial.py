"""Trains a small network. The training is the same with any number of processes.

scaling_trial.py BATCHES    with TRAINYARD_LOCAL_DIR as the folder
"""

import sys

from quick_torch import torch
from torch import nn
from torch.utils.data import TensorDataset

from trainyard import pytorch

GLOBAL_BATCH_SIZE = 64
# Each epoch has ten full batches and one of 40 samples.
TRAINING, VALIDATION = 680, 203


def points(count: int, seed: int) -> TensorDataset:
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(count, 8, generator=generator)
    return TensorDataset(inputs, torch.sin(inputs).sum(1, keepdim=True))


class Trial(pytorch.PyTorchTrial):
    def __init__(self, context):
        self.context = context
        self.model = context.wrap_model(
            nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
        )
        self.optimizer = context.wrap_optimizer(torch.optim.SGD(self.model.parameters(), lr=0.05))
        # The metric is not a mean: it equals the value that one process would compute from all validation data.
        self.median = context.wrap_reducer(median, name="median_error", for_training=False)

    def build_training_data_loader(self):
        size = self.context.get_per_slot_batch_size()
        return pytorch.DataLoader(points(TRAINING, 1), batch_size=size, shuffle=True)

    def build_validation_data_loader(self):
        size = self.context.get_per_slot_batch_size()
        return pytorch.DataLoader(points(VALIDATION, 2), batch_size=size)

    def train_batch(self, batch, epoch_idx, batch_idx):
        inputs, targets = batch
        loss = nn.functional.mse_loss(self.model(inputs), targets)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        return loss

    def evaluate_batch(self, batch, batch_idx):
        inputs, targets = batch
        errors = self.model(inputs) - targets
        self.median.update(errors.abs().flatten().tolist())
        return {"validation_loss": errors.square().mean()}


def median(batches):
    errors = sorted(error for batch in batches for error in batch)
    return errors[len(errors) // 2]


def main(length: int) -> None:
    torch.set_num_threads(1)
    with pytorch.init(hparams={"global_batch_size": GLOBAL_BATCH_SIZE}) as context:
        pytorch.Trainer(Trial(context), context).fit(
            max_length=pytorch.Batch(length),
            reporting_period=pytorch.Batch(1),
            validation_period=pytorch.Batch(10),
            checkpoint_policy="none",
        )


if __name__ == "__main__":
    main(int(sys.argv[1]))
