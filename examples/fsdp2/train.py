"""Trains a network whose parameters, gradients and optimizer are sharded over all slots (FSDP2).

python3 -m trainyard.launch.torch train.py        one process for each slot of the trial
python3 train.py                                  one process, into a folder below ./trainyard-local
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

try:
    import trainyard
except ModuleNotFoundError:
    # This script runs outside of a task, in a checkout without an installed SDK.
    sys.path.append(str(Path(__file__).resolve().parents[2] / "libs" / "sdk-python" / "src"))
    import trainyard

from network import Network, digits

from trainyard.pytorch import DataLoader

# Default hyperparameters for a run without the platform; a trial gets its values from the search.
LOCAL_HPARAMS = {
    "learning_rate": 0.01,
    "width": 32,
    "blocks": 2,
    # The global batch size: samples per step, over all slots.
    "batch_size": 32,
    "steps": 60,
}
CHECKPOINT_STEPS = 20


class Training:
    """A sharded network with its optimizer, and the number of steps taken."""

    def __init__(self, hparams: dict[str, Any], seed: int, device: torch.device) -> None:
        torch.manual_seed(seed)
        self.steps = 0
        self.device = device
        self.network = Network(hparams["width"], hparams["blocks"]).to(device)
        mesh = init_device_mesh(device.type, (dist.get_world_size(),))
        # FSDP gathers the parameters of a block only while the block computes.
        for block in self.network.blocks:
            fully_shard(block, mesh=mesh)
        fully_shard(self.network, mesh=mesh)
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=hparams["learning_rate"])

    def step(self, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Takes a step on this process's part of the batch. Returns the loss of the whole batch."""
        scores = self.network(images.to(self.device))
        loss = torch.nn.functional.cross_entropy(scores, labels.to(self.device))
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.steps += 1
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        return mean / dist.get_world_size()

    @torch.no_grad()
    def accuracy(self) -> float:
        """Returns the accuracy on validation pictures. Every process scores all of them, since a
        sharded network computes only on all processes together.
        """
        images, labels = digits(256, seed=2).tensors
        scores = self.network(images.to(self.device))
        return (scores.argmax(1).cpu() == labels).float().mean().item()

    def save(self, ctx: trainyard.Context) -> None:
        """Every process writes its shards."""
        network, optimizer = get_state_dict(self.network, self.optimizer)
        metadata = {"steps_completed": self.steps}
        with ctx.checkpoint.store_path(metadata, shard=True) as (path, _):
            dcp.save({"network": network, "optimizer": optimizer}, checkpoint_id=path)

    def restore(self, ctx: trainyard.Context, checkpoint: str) -> None:
        """Every process reads the shards that it needs; the number of processes may differ from the
        number at the time of the checkpoint.
        """
        network, optimizer = get_state_dict(self.network, self.optimizer)
        state = {"network": network, "optimizer": optimizer}
        with ctx.checkpoint.restore_path(checkpoint) as path:
            dcp.load(state, checkpoint_id=path)
        set_state_dict(
            self.network,
            self.optimizer,
            model_state_dict=state["network"],
            optim_state_dict=state["optimizer"],
        )
        self.steps = int(ctx.checkpoint.get_metadata(checkpoint)["steps_completed"])


def main(ctx: trainyard.Context, device: torch.device) -> None:
    hparams, seed = ctx.info.hparams, ctx.info.trial_seed
    training = Training(hparams, seed, device)
    if ctx.info.latest_checkpoint is not None:
        training.restore(ctx, ctx.info.latest_checkpoint)
    data = batches(ctx, hparams["batch_size"], training.steps)
    while training.steps < hparams["steps"]:
        loss = training.step(*next(data))
        # Every process reports the loss; the platform stores the report of rank 0.
        ctx.train.report_training_metrics(training.steps, {"loss": loss.item()})
        done = training.steps == hparams["steps"]
        # Every process gets the same answer at the same step.
        stop = not done and ctx.preempt.should_preempt()
        if done or stop or training.steps % CHECKPOINT_STEPS == 0:
            training.save(ctx)
        if stop:
            return
    ctx.train.report_validation_metrics(training.steps, {"accuracy": training.accuracy()})


def batches(ctx: trainyard.Context, size: int, done: int) -> Iterator[tuple[torch.Tensor, ...]]:
    """This process's part of each batch, from the first batch after the checkpoint."""
    loader = DataLoader(digits(512, seed=1), batch_size=size // ctx.distributed.size, shuffle=True)
    return iter(
        loader.get_data_loader(
            repeat=True,
            skip=done,
            num_replicas=ctx.distributed.size,
            rank=ctx.distributed.rank,
            seed=ctx.info.trial_seed,
        )
    )


def join() -> torch.device:
    """Joins the other processes of the trial, or starts a group of one."""
    cuda = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0))) if cuda else "cpu"
    if cuda:
        torch.cuda.set_device(device)
    backend = "nccl" if cuda else "gloo"
    if "RANK" in os.environ:
        dist.init_process_group(backend)
    else:
        dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1)
    return torch.device(device)


if __name__ == "__main__":
    of_trial = join()
    distributed = None
    if dist.get_world_size() > 1:
        distributed = trainyard.DistributedContext.from_torch_distributed()
    given = dict(argument.split("=", 1) for argument in sys.argv[1:])
    hparams_alone = {**LOCAL_HPARAMS, **{name: json.loads(value) for name, value in given.items()}}
    with trainyard.init(distributed=distributed, local_hparams=hparams_alone) as context:
        main(context, of_trial)
    dist.destroy_process_group()
