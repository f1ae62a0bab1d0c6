"""Reports a loss that falls faster or slower by the hyperparameter and by the trial's randomness.

The script validates and stores a checkpoint every few steps.
"""

import json
import os
import random
import time

import trainyard

STEPS = int(os.environ.get("STEPS", "40"))
STEP_SECONDS = float(os.environ.get("STEP_SECONDS", "0.02"))
EVERY = 5


def main():
    with trainyard.init() as ctx:
        weight, first = 1.0, 0
        if ctx.info.latest_checkpoint is not None:
            with ctx.checkpoint.restore_path(ctx.info.latest_checkpoint) as path:
                state = json.loads((path / "state.json").read_text())
            weight, first = state["weight"], state["step"]
        print(f"starts at {first}, told {ctx.info.steps_completed:g}", flush=True)
        for step in range(first + 1, STEPS + 1):
            time.sleep(STEP_SECONDS)
            chance = random.Random(f"{ctx.info.trial_seed} {step}").random()
            weight *= 1 - 0.2 * ctx.info.hparams["lr"] * chance
            if step % EVERY != 0:
                continue
            ctx.train.report_validation_metrics(step, {"loss": weight})
            with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _uuid):
                (path / "state.json").write_text(json.dumps({"step": step, "weight": weight}))
            if ctx.preempt.should_preempt():
                print(f"stops at {step}", flush=True)
                return


main()
