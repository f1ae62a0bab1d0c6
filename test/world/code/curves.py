"""Reports a loss that falls with the steps to a floor that the hyperparameter sets.

The script validates every step and stores a checkpoint when it should stop.
"""

import json
import os
import time

import trainyard

STEPS = int(os.environ.get("STEPS", "27"))
STEP_SECONDS = float(os.environ.get("STEP_SECONDS", "0.02"))


def main():
    with trainyard.init() as ctx:
        floor = (ctx.info.hparams["lr"] - 0.3) ** 2
        first = 0
        latest = ctx.info.latest_checkpoint
        if latest is not None:
            with ctx.checkpoint.restore_path(latest) as path:
                first = json.loads((path / "state.json").read_text())["step"]
        print(f"starts at {first}", flush=True)
        for step in range(first + 1, STEPS + 1):
            time.sleep(STEP_SECONDS)
            ctx.train.report_validation_metrics(step, {"loss": floor + 1.0 / step})
            if ctx.preempt.should_preempt():
                with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _uuid):
                    (path / "state.json").write_text(json.dumps({"step": step}))
                print(f"stops at {step}", flush=True)
                return


main()
