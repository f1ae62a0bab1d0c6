"""Trains nothing, and fails once: run 1 stores a checkpoint at step 2 and dies at step 4."""

import time

import trainyard

with trainyard.init() as ctx:
    if ctx.info.hparams["sampled"]:
        ctx.tensorboard.mirror_metrics()
    # A shorter interval than the configuration's, so that a short run has samples.
    if ctx.info.hparams["sampled"]:
        ctx.profiler.on(0.1, 2)
    step = int(ctx.info.steps_completed)
    while step < 6:
        step += 1
        time.sleep(0.2)
        ctx.profiler.count(1, 32)
        ctx.train.report_training_metrics(step, {"loss": 1 / step})
        if step == 2:
            with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _):
                (path / "model").write_text(str(step))
        if step == 4 and ctx.info.run == 1:
            raise SystemExit(3)
    ctx.train.report_validation_metrics(step, {"loss": 1 / step})
