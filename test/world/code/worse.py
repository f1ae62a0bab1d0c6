"""Stores a checkpoint after each validation. Each validation is worse than the one before: the first is the best."""

import os
import time

import trainyard

with trainyard.init() as ctx:
    for step in range(1, int(os.environ["STEPS"]) + 1):
        ctx.train.report_validation_metrics(step, {"loss": step / 10})
        with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _uuid):
            (path / "weights").write_text(f"the weights of step {step}")
        print(f"step {step}", flush=True)
        time.sleep(float(os.environ["STEP_SECONDS"]))
