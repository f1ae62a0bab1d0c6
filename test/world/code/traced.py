"""A small PyTorchTrial with all kinds of profiling, in any number of processes."""

import gc

# The garbage collector would search the objects of PyTorch's modules for longer than this training takes.
gc.disable()

import time
import warnings

import torch
import torch._dynamo  # The first optimizer would import it.

from trainyard import pytorch

gc.freeze()
gc.enable()

torch.set_num_threads(1)
warnings.simplefilter("ignore")


class Traced(pytorch.PyTorchTrial):
    def __init__(self, context):
        self.context = context
        self.model = context.wrap_model(torch.nn.Linear(3, 1))
        self.optimizer = context.wrap_optimizer(torch.optim.SGD(self.model.parameters(), lr=0.1))
        context.set_profiler(activities=[torch.profiler.ProfilerActivity.CPU])
        self.writer = context.get_tensorboard_writer()

    def build_training_data_loader(self):
        points = torch.utils.data.TensorDataset(torch.rand(64, 3), torch.rand(64, 1))
        return pytorch.DataLoader(points, batch_size=8)

    build_validation_data_loader = build_training_data_loader

    def loss(self, batch):
        return torch.nn.functional.mse_loss(self.model(batch[0]), batch[1])

    def train_batch(self, batch, epoch_idx, batch_idx):
        time.sleep(0.05)
        loss = self.loss(batch)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        self.writer.add_scalar("mine", loss.item(), batch_idx)
        return {"loss": loss}

    def evaluate_batch(self, batch):
        return {"loss": self.loss(batch)}


if __name__ == "__main__":
    with pytorch.init() as context:
        trainer = pytorch.Trainer(Traced(context), context)
        trainer.fit(max_length=pytorch.Batch(24), reporting_period=pytorch.Batch(8))
