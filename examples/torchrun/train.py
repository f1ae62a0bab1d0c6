"""Reads the digits of a flickering seven-segment display, in a plain PyTorch loop on one or more
processes, with the Core API and ``torch.distributed`` alone.

python3 train.py                                        alone
torchrun --nproc-per-node 2 train.py epochs=8           two processes
python3 -m trainyard.launch.torch train.py              one process for each slot of the trial
"""

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

try:
    import trainyard
except ModuleNotFoundError:
    # This script runs outside of a task, in a checkout without an installed SDK.
    sys.path.append(str(Path(__file__).resolve().parents[2] / "libs" / "sdk-python" / "src"))
    import trainyard

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

# Default hyperparameters for a run without the platform; a trial gets its values from the search.
LOCAL_HPARAMS = {
    "learning_rate": 0.01,
    "hidden_units": 32,
    "batch_size": 32,
    "epochs": 6,
    "checkpoint_steps": 25,
}

# The lit segments, a to g, of the digits 0 to 9.
SEGMENTS = ["abcdef", "bc", "abdeg", "abcdg", "bcfg", "acdfg", "acdefg", "abc", "abcdefg", "abcdfg"]
FLICKER = 0.05


def main(ctx: trainyard.Context) -> None:
    hparams = ctx.info.hparams
    torch.manual_seed(ctx.info.trial_seed)
    model: Any = torch.nn.Sequential(
        torch.nn.Linear(7, hparams["hidden_units"]),
        torch.nn.ReLU(),
        torch.nn.Linear(hparams["hidden_units"], 10),
    )
    if ctx.distributed.size > 1:
        model = DistributedDataParallel(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=hparams["learning_rate"])
    displays, digits = readings(2560, seed=1)
    # Each process takes one batch per step.
    per_epoch = len(digits) // (hparams["batch_size"] * ctx.distributed.size)
    last = hparams["epochs"] * per_epoch
    step = restore(ctx, model, optimizer)
    while step < last:
        chosen = batch_of(ctx, len(digits), *divmod(step, per_epoch))
        loss = torch.nn.functional.cross_entropy(model(displays[chosen]), digits[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % per_epoch == 0:
            # Every rank reports; the platform stores the chief's report.
            ctx.train.report_training_metrics(step, {"loss": mean_over_ranks(loss)})
            ctx.train.report_validation_metrics(step, score(model))
            ctx.train.report_progress(step / last)
        stop = step < last and ctx.preempt.should_preempt()
        if stop or step == last or step % hparams["checkpoint_steps"] == 0:
            save(ctx, model, optimizer, step)
        if stop:
            return


def batch_of(ctx: trainyard.Context, count: int, epoch: int, batch: int) -> torch.Tensor:
    """Returns the indices of this process's readings. They depend on seed, epoch and batch alone,
    so a checkpoint need not contain them.
    """
    draw = torch.Generator().manual_seed(ctx.info.trial_seed + epoch)
    size = ctx.info.hparams["batch_size"]
    first = (batch * ctx.distributed.size + ctx.distributed.rank) * size
    return torch.randperm(count, generator=draw)[first : first + size]


def readings(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Seven-segment displays, in which some segments are wrong, and the digits that they show."""
    draw = torch.Generator().manual_seed(seed)
    lit = torch.tensor([[float(s in segments) for s in "abcdefg"] for segments in SEGMENTS])
    digits = torch.randint(0, 10, (count,), generator=draw)
    wrong = (torch.rand(count, 7, generator=draw) < FLICKER).float()
    return (lit[digits] - wrong).abs(), digits


def score(model: Any) -> dict[str, float]:
    displays, digits = readings(500, seed=2)
    with torch.no_grad():
        found = model(displays)
    loss = torch.nn.functional.cross_entropy(found, digits)
    return {
        "validation_loss": loss.item(),
        "accuracy": (found.argmax(dim=1) == digits).float().mean().item(),
    }


def mean_over_ranks(loss: torch.Tensor) -> float:
    total = loss.detach().clone()
    if distributed.is_initialized():
        distributed.all_reduce(total)
        total /= distributed.get_world_size()
    return float(total)


def restore(ctx: trainyard.Context, model: Any, optimizer: torch.optim.Optimizer) -> int:
    """Returns the steps of the latest checkpoint, 0 without a checkpoint."""
    if ctx.info.latest_checkpoint is None:
        return 0
    with ctx.checkpoint.restore_path(ctx.info.latest_checkpoint) as path:
        state = torch.load(path / "state.pth", weights_only=True)
    getattr(model, "module", model).load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return int(state["step"])


def save(ctx: trainyard.Context, model: Any, optimizer: Any, step: int) -> None:
    """Every rank has the same state, so rank 0 stores it."""
    if ctx.distributed.rank == 0:
        weights = getattr(model, "module", model).state_dict()
        state = {"model": weights, "optimizer": optimizer.state_dict(), "step": step}
        with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _):
            torch.save(state, path / "state.pth")


@contextlib.contextmanager
def processes() -> Iterator[Any]:
    """Joins the other processes of the launcher; yields None without a launcher."""
    if "RANK" not in os.environ:
        yield None
        return
    # The network is trained on the CPU, also on a machine with GPUs.
    distributed.init_process_group("gloo")
    yield trainyard.DistributedContext.from_torch_distributed()
    distributed.destroy_process_group()


def local_hparams(arguments: list[str]) -> dict[str, Any]:
    """Returns LOCAL_HPARAMS, overridden by command-line arguments of the form name=value."""
    given = dict(argument.split("=", 1) for argument in arguments)
    return {**LOCAL_HPARAMS, **{name: json.loads(value) for name, value in given.items()}}


if __name__ == "__main__":
    hparams_here = local_hparams(sys.argv[1:])
    with processes() as others:
        with trainyard.init(distributed=others, local_hparams=hparams_here) as context:
            main(context)
