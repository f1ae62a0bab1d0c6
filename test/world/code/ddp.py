"""Trains a small network with PyTorch on all slots; each process prints its weights at the end."""

import gc

# The garbage collector would search the objects of PyTorch's modules for longer than this training takes.
gc.disable()

import hashlib
import time

import torch
import torch._dynamo  # The first optimizer would import it.
from torch import nn
from torch.utils.data import TensorDataset

from trainyard import pytorch

gc.freeze()
gc.enable()

INPUTS, CLASSES, SAMPLES = 16, 4, 1024


class Trial(pytorch.PyTorchTrial):
    def __init__(self, context):
        torch.set_num_threads(1)
        self.context = context
        self.model = context.wrap_model(
            nn.Sequential(nn.Linear(INPUTS, 32), nn.Tanh(), nn.Linear(32, CLASSES))
        )
        self.optimizer = context.wrap_optimizer(
            torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        )
        self.batches = 0

    def build_training_data_loader(self):
        batch_size = self.context.get_hparam("batch_size")
        return pytorch.DataLoader(samples(1), batch_size=batch_size, shuffle=True)

    def build_validation_data_loader(self):
        return pytorch.DataLoader(samples(2), batch_size=64)

    def train_batch(self, batch, epoch_idx, batch_idx):
        time.sleep(self.context.get_hparam("batch_seconds"))
        loss = self.loss(batch)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        self.batches = batch_idx + 1
        return {"loss": loss}

    def evaluate_batch(self, batch):
        return {"validation_loss": self.loss(batch)}

    def loss(self, batch):
        inputs, classes = batch
        return nn.functional.cross_entropy(self.model(inputs), classes)

    def digest(self):
        weights = hashlib.sha256()
        for tensor in self.model.state_dict().values():
            weights.update(tensor.numpy().tobytes())
        return weights.hexdigest()


def samples(seed):
    """The class of a point is the largest of four fixed sums."""
    rule = torch.randn(INPUTS, CLASSES, generator=torch.Generator().manual_seed(0))
    inputs = torch.randn(SAMPLES, INPUTS, generator=torch.Generator().manual_seed(seed))
    return TensorDataset(inputs, (inputs @ rule).argmax(dim=1))


with pytorch.init() as context:
    trial = Trial(context)
    pytorch.Trainer(trial, context).fit(
        max_length=pytorch.Batch(context.get_hparam("batches")),
        checkpoint_period=pytorch.Batch(context.get_hparam("checkpoint_batches")),
        reporting_period=pytorch.Batch(1),
    )
    print(f"after {trial.batches} batches the weights are {trial.digest()}", flush=True)
