"""Every rank stores its own file of one checkpoint; a second run reads the files of all ranks."""

import trainyard

together = trainyard.DistributedContext.from_torch_distributed()
with trainyard.init(distributed=together) as ctx:
    rank = together.rank
    with ctx.checkpoint.store_path({"steps_completed": 1}, shard=True) as (path, uuid):
        (path / "shards").mkdir()
        (path / "shards" / f"{rank}.bin").write_bytes(bytes([rank]) * 1_000_000)
    with ctx.checkpoint.restore_path(uuid) as path:
        for other in range(together.size):
            content = (path / "shards" / f"{other}.bin").read_bytes()
            assert content == bytes([other]) * 1_000_000
    ctx.train.report_validation_metrics(1, {"loss": 1.0})
    print(f"rank {rank} of host {together.cross_rank} has read all {together.size}")
