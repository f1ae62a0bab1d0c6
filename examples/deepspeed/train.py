"""Learns the sign of a sum with a DeepSpeed engine.

python3 -m trainyard.launch.torch train.py              one process for each slot of the trial
torchrun --nproc-per-node 2 train.py steps=100          two processes, without a cluster
"""

import json
import sys
from pathlib import Path
from typing import Any

try:
    import trainyard
except ModuleNotFoundError:
    # This script runs outside of a task, in a checkout without an installed SDK.
    sys.path.append(str(Path(__file__).resolve().parents[2] / "libs" / "sdk-python" / "src"))
    import trainyard

import deepspeed
import torch

from trainyard.deepspeed import Checkpoints, initialize

# Default hyperparameters for a run without the platform; a trial gets its values from the search.
LOCAL_HPARAMS = {"steps": 60, "checkpoint_steps": 10, "deepspeed": {}}
FEATURES = 8


def main(ctx: trainyard.Context) -> None:
    hparams = ctx.info.hparams
    torch.manual_seed(ctx.info.trial_seed)
    model = torch.nn.Sequential(
        torch.nn.Linear(FEATURES, 32),
        torch.nn.ReLU(),
        torch.nn.Dropout(0.1),
        torch.nn.Linear(32, 1),
    )
    base = Path(__file__).with_name("deepspeed.json")
    engine, *_ = initialize(ctx, base, model=model, model_parameters=model.parameters())
    checkpoints = Checkpoints(ctx, engine)
    restored = checkpoints.restore() or {"batches": 0}
    batches = restored["batches"]
    while engine.global_steps < hparams["steps"]:
        x, y = batch_of(ctx, batches, engine.train_micro_batch_size_per_gpu())
        loss = loss_of(engine, x.to(engine.device), y.to(engine.device))
        engine.backward(loss)
        engine.step()
        batches += 1
        if not checkpoints.stepped():
            continue
        steps = engine.global_steps
        ctx.train.report_training_metrics(steps, {"loss": loss.item()})
        stop = steps < hparams["steps"] and ctx.preempt.should_preempt()
        if stop or steps == hparams["steps"] or steps % hparams["checkpoint_steps"] == 0:
            ctx.train.report_validation_metrics(steps, validate(engine))
            ctx.train.report_progress(steps / hparams["steps"])
            checkpoints.save(batches=batches)
        if stop:
            return


def batch_of(ctx: trainyard.Context, batch: int, size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The batch depends on seed, number and rank alone, so no checkpoint has to contain data."""
    number = batch * ctx.distributed.size + ctx.distributed.rank
    return samples(size, seed=ctx.info.trial_seed * 1_000_003 + number)


def samples(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.randn(count, FEATURES, generator=torch.Generator().manual_seed(seed))
    return x, (x.sum(dim=1, keepdim=True) > 0).float()


def loss_of(engine: Any, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.binary_cross_entropy_with_logits(engine(x), y)


def validate(engine: Any) -> dict[str, float]:
    x, y = (part.to(engine.device) for part in samples(500, seed=2))
    engine.module.eval()
    with torch.no_grad():
        found = engine.module(x)
    engine.module.train()
    loss = torch.nn.functional.binary_cross_entropy_with_logits(found, y)
    return {
        "validation_loss": loss.item(),
        "accuracy": ((found > 0).float() == y).float().mean().item(),
    }


def local_hparams(arguments: list[str]) -> dict[str, Any]:
    """Returns LOCAL_HPARAMS, overridden by command-line arguments of the form name=value."""
    given = dict(argument.split("=", 1) for argument in arguments)
    return {**LOCAL_HPARAMS, **{name: json.loads(value) for name, value in given.items()}}


if __name__ == "__main__":
    deepspeed.init_distributed()
    together = trainyard.DistributedContext.from_torch_distributed()
    hparams_here = local_hparams(sys.argv[1:])
    with trainyard.init(distributed=together, local_hparams=hparams_here) as context:
        main(context)
