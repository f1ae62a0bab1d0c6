"""Fits a curve with Hugging Face Accelerate, in a training loop that the script writes itself.

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

import torch
from accelerate import Accelerator, DataLoaderConfiguration
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, TensorDataset

from trainyard.accelerate import Checkpoints, Tracker

# Default hyperparameters for a run without the platform; a trial gets its values from the search.
LOCAL_HPARAMS = {
    "learning_rate": 0.02,
    "hidden_units": 32,
    "batch_size": 16,
    "epochs": 5,
    "checkpoint_steps": 20,
}


def main(ctx: trainyard.Context) -> None:
    hparams = ctx.info.hparams
    set_seed(ctx.info.trial_seed)
    order = DataLoaderConfiguration(use_seedable_sampler=True, data_seed=ctx.info.trial_seed)
    accelerator = Accelerator(log_with=Tracker(ctx), dataloader_config=order)
    accelerator.init_trackers("curve")
    hidden = hparams["hidden_units"]
    model = torch.nn.Sequential(
        torch.nn.Linear(1, hidden),
        torch.nn.Tanh(),
        torch.nn.Dropout(0.05),
        torch.nn.Linear(hidden, 1),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=hparams["learning_rate"])
    loader = DataLoader(curve(640, seed=1), batch_size=hparams["batch_size"], shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    checkpoints = Checkpoints(ctx, accelerator)
    at = checkpoints.restore() or {"steps_completed": 0, "epoch": 0, "batches": 0}
    steps, skip = at["steps_completed"], at["batches"]
    last = hparams["epochs"] * len(loader)
    for epoch in range(at["epoch"], hparams["epochs"]):
        for batch, (x, y) in enumerate(checkpoints.batches(loader, epoch, skip), skip + 1):
            loss = torch.nn.functional.mse_loss(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            steps += 1
            accelerator.log({"loss": loss.item(), "epoch": epoch}, step=steps)
            stop = steps < last and ctx.preempt.should_preempt()
            if batch == len(loader):
                validate(accelerator, model, steps)
                ctx.train.report_progress((epoch + 1) / hparams["epochs"])
            if stop or steps == last or steps % hparams["checkpoint_steps"] == 0:
                checkpoints.save(steps, epoch=epoch, batches=batch)
            if stop:
                return
        skip = 0


def validate(accelerator: Accelerator, model: Any, steps: int) -> None:
    x, y = (part.to(accelerator.device) for part in curve(200, seed=2).tensors)
    model.eval()
    with torch.no_grad():
        loss = torch.nn.functional.mse_loss(model(x), y)
    model.train()
    accelerator.log({"validation_loss": loss.item()}, step=steps)


def curve(count: int, seed: int) -> TensorDataset:
    """Points near the sum of two sines, one of a three times higher frequency."""
    draw = torch.Generator().manual_seed(seed)
    x = torch.rand(count, 1, generator=draw) * 2 - 1
    y = torch.sin(3 * x) + 0.3 * torch.sin(9 * x) + 0.05 * torch.randn(count, 1, generator=draw)
    return TensorDataset(x, y)


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
