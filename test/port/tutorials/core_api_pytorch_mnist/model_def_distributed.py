"""A training on several slots, with DistributedDataParallel."""

import data
import determined as det
import loop
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main(core_context):
    torch.manual_seed(1)
    rank, size = core_context.distributed.rank, core_context.distributed.size
    model = DistributedDataParallel(loop.network())
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    pictures = data.pictures(256, 2)
    sampler = torch.utils.data.DistributedSampler(pictures, num_replicas=size, rank=rank)
    train = torch.utils.data.DataLoader(pictures, batch_size=8, sampler=sampler)
    test = torch.utils.data.DataLoader(data.pictures(64, 3), batch_size=32)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        loop.train_epoch(model, train, optimizer)
        loss, _ = loop.validate(model.module, test)
        losses = core_context.distributed.gather(loss)
        done = (epoch + 1) * len(train)
        if rank == 0:
            core_context.train.report_validation_metrics(
                steps_completed=done, metrics={"test_loss": sum(losses) / size}
            )
            with core_context.checkpoint.store_path({"steps_completed": done}) as (path, _):
                torch.save(model.module.state_dict(), path / "checkpoint.pt")
        if core_context.preempt.should_preempt():
            return


if __name__ == "__main__":
    dist.init_process_group("gloo")
    distributed = det.core.DistributedContext.from_torch_distributed()
    with det.core.init(distributed=distributed) as core_context:
        main(core_context)
