"""The training as a hand-written loop in plain PyTorch; under torchrun with
DistributedDataParallel.
"""

from __future__ import annotations

import os
from typing import Any

import torch
from gate import Gate
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from work import BATCH, REPORT_EVERY, network, optimizer_of, samples


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(1)
    distributed = int(os.environ.get("WORLD_SIZE", "1")) > 1
    if distributed:
        torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank() if distributed else 0
    train(
        Gate(rank),
        DistributedDataParallel(network()) if distributed else network(),
        DistributedSampler(samples()) if distributed else None,
    )


def train(gate: Gate, model: nn.Module, sampler: Any) -> None:
    optimizer = optimizer_of(model)
    loader = DataLoader(samples(), batch_size=BATCH, shuffle=sampler is None, sampler=sampler)
    losses = []
    while True:
        for inputs, classes in loader:
            gate.pass_batch()
            loss = nn.functional.cross_entropy(model(inputs), classes)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.detach())
            if len(losses) == REPORT_EVERY:
                print(f"loss {torch.stack(losses).mean().item():.4f}", flush=True)
                losses = []


if __name__ == "__main__":
    main()
