"""Separates two interlocking half circles of points, with PyTorch Lightning.

python3 train.py                          with the hyperparameters below
python3 train.py learning_rate=0.001 epochs=8
python3 -m trainyard.launch.torch train.py              one process for each slot of the trial
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

try:
    import trainyard
except ModuleNotFoundError:
    # This script runs outside of a task, in a checkout without an installed SDK.
    sys.path.append(str(Path(__file__).resolve().parents[2] / "libs" / "sdk-python" / "src"))
    import trainyard

import lightning
import torch

from trainyard.lightning import Callback, Environment, Logger, ResumableDataLoader

# Default hyperparameters for a run without the platform; a trial gets its values from the search.
LOCAL_HPARAMS = {
    "learning_rate": 0.02,
    "hidden_units": 32,
    "batch_size": 16,
    "epochs": 4,
    "checkpoint_steps": 20,
}


class HalfCircles(lightning.LightningModule):
    """A network with one hidden layer that classifies a point by its half circle."""

    def __init__(self, hidden_units: int, learning_rate: float) -> None:
        super().__init__()
        self.learning_rate = learning_rate
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(2, hidden_units), torch.nn.Tanh(), torch.nn.Linear(hidden_units, 2)
        )

    def training_step(self, batch: Any, _: int) -> torch.Tensor:
        points, sides = batch
        loss = torch.nn.functional.cross_entropy(self.layers(points), sides)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch: Any, _: int) -> None:
        points, sides = batch
        found = self.layers(points)
        loss = torch.nn.functional.cross_entropy(found, sides)
        accuracy = (found.argmax(dim=1) == sides).float().mean()
        # Metrics are averaged over all processes, so the search compares whole trials.
        self.log_dict({"val_loss": loss, "val_accuracy": accuracy}, sync_dist=True)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), lr=self.learning_rate)


def main(ctx: trainyard.Context) -> None:
    hparams = ctx.info.hparams
    lightning.seed_everything(ctx.info.trial_seed)
    training, validation = half_circles(800, seed=1), half_circles(200, seed=2)
    callback = Callback(ctx, every_n_train_steps=hparams["checkpoint_steps"])
    trainer = lightning.Trainer(
        max_epochs=hparams["epochs"],
        accelerator="auto" if torch.cuda.is_available() else "cpu",
        devices=ctx.distributed.local_size,
        num_nodes=ctx.distributed.cross_size,
        logger=Logger(ctx),
        callbacks=[callback],
        plugins=[Environment(ctx)],
        log_every_n_steps=10,
        enable_progress_bar=sys.stderr.isatty(),
    )
    callback.fit(
        trainer,
        HalfCircles(hparams["hidden_units"], hparams["learning_rate"]),
        ResumableDataLoader(training, ctx, batch_size=hparams["batch_size"], shuffle=True),
        torch.utils.data.DataLoader(validation, batch_size=100),
    )


def half_circles(count: int, seed: int) -> torch.utils.data.TensorDataset:
    """Points near two interlocking half circles, each labelled with its half circle."""
    draw = torch.Generator().manual_seed(seed)
    sides = torch.randint(0, 2, (count,), generator=draw)
    angles = torch.rand(count, generator=draw) * torch.pi
    x, y = angles.cos(), angles.sin()
    lower = torch.stack((1 - x, 0.5 - y), dim=1)
    points = torch.where(sides[:, None] == 1, lower, torch.stack((x, y), dim=1))
    points += 0.1 * torch.randn(count, 2, generator=draw)
    return torch.utils.data.TensorDataset(points, sides)


def processes() -> Any:
    """Returns the launcher's process group, or None when the script runs as a single process."""
    launched = "RANK" in os.environ
    return trainyard.DistributedContext.from_torch_distributed() if launched else None


def local_hparams(arguments: list[str]) -> dict[str, Any]:
    """Returns LOCAL_HPARAMS, overridden by command-line arguments of the form name=value."""
    given = dict(argument.split("=", 1) for argument in arguments)
    return {**LOCAL_HPARAMS, **{name: json.loads(value) for name, value in given.items()}}


if __name__ == "__main__":
    hparams_here = local_hparams(sys.argv[1:])
    with trainyard.init(distributed=processes(), local_hparams=hparams_here) as context:
        main(context)
