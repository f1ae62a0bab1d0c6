"""Trains nothing on all ranks: each stores a shard of a checkpoint, and ends as its hyperparameters
say.
"""

import os
import signal

import trainyard

together = trainyard.DistributedContext.from_torch_distributed()
with trainyard.init(distributed=together) as ctx:
    first = batch = 0
    if ctx.info.latest_checkpoint:
        with ctx.checkpoint.restore_path(ctx.info.latest_checkpoint) as path:
            first = int((path / f"batch-{together.rank}").read_text())
        print(f"continues from {first}", flush=True)
    how = ctx.info.hparams["end"]
    for batch in range(first + 1, first + 100_000):
        together.allgather(batch)
        if batch == 5:
            print("under way", flush=True)
            if together.rank == together.size - 1:
                if how == "raise":
                    raise ValueError("the last rank's own")
                if how == "kill":
                    os.kill(os.getpid(), signal.SIGKILL)
        if first and batch == first + 5:
            break
        if ctx.preempt.should_preempt():
            print(f"stops at {batch}", flush=True)
            break
    with ctx.checkpoint.store_path({"steps_completed": batch}, shard=True) as (path, _):
        (path / f"batch-{together.rank}").write_text(str(batch))
    ctx.train.report_validation_metrics(batch, {"loss": 1 / batch})
