"""A PyTorchTrial, trained by the Trainer."""

import logging

import data
import determined as det
import model
import torch
from determined import pytorch
from torch.nn import functional


class PicturesTrial(pytorch.PyTorchTrial):
    def __init__(self, context: pytorch.PyTorchTrialContext, hparams: dict) -> None:
        self.context = context
        self.batch_size = context.get_per_slot_batch_size()
        network = model.network(hparams["n_filters"], hparams["dropout"])
        self.model = context.wrap_model(network)
        self.optimizer = context.wrap_optimizer(
            torch.optim.Adadelta(self.model.parameters(), lr=hparams["learning_rate"])
        )

    def build_training_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(data.pictures(256, 2), batch_size=self.batch_size, shuffle=True)

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(data.pictures(64, 3), batch_size=self.batch_size)

    def train_batch(self, batch, epoch_idx: int, batch_idx: int):
        pictures, labels = batch
        loss = functional.cross_entropy(self.model(pictures), labels)
        self.context.backward(loss)
        self.context.step_optimizer(self.optimizer)
        return {"loss": loss}

    def evaluate_batch(self, batch):
        pictures, labels = batch
        output = self.model(pictures)
        accuracy = (output.argmax(dim=1) == labels).float().mean()
        loss = functional.cross_entropy(output, labels)
        return {"validation_loss": loss.item(), "accuracy": accuracy.item()}


def run(local: bool) -> None:
    info = det.get_cluster_info()
    hparams = {"learning_rate": 1.0, "n_filters": 8, "dropout": 0.1, "global_batch_size": 32}
    if not local:
        hparams = info.trial.hparams
    with pytorch.init(hparams=hparams) as train_context:
        trial = PicturesTrial(train_context, hparams)
        trainer = pytorch.Trainer(trial, train_context)
        trainer.fit(
            max_length=pytorch.Batch(16) if local else None,
            latest_checkpoint=None if local else info.latest_checkpoint,
            validation_period=pytorch.Batch(8),
            checkpoint_period=pytorch.Batch(8),
        )


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    run(local=det.get_cluster_info() is None)
