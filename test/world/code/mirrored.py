"""Takes a step each half second, and writes its metrics to TensorBoard's files too."""

import time

import trainyard

STEPS = 100_000

with trainyard.init() as ctx:
    ctx.tensorboard.mirror_metrics()
    for step in range(int(ctx.info.steps_completed) + 1, STEPS):
        time.sleep(0.5)
        ctx.train.report_training_metrics(step, {"loss": 1.0 / step})
        if step % 3 == 0:
            ctx.train.report_validation_metrics(step, {"loss": 1.0 / step})
