"""Exits with EXIT_CODE, after a checkpoint at each step up to FAIL_AT."""

import json
import os
import sys

import trainyard

FAIL_AT = int(os.environ["FAIL_AT"])

with trainyard.init() as ctx:
    first = 0
    if ctx.info.latest_checkpoint is not None:
        with ctx.checkpoint.restore_path(ctx.info.latest_checkpoint) as path:
            first = json.loads((path / "state.json").read_text())["step"]
    print(f"run {ctx.info.run} starts at {first}", flush=True)
    for step in range(first + 1, first + FAIL_AT + 1):
        ctx.train.report_training_metrics(step, {"loss": 1.0})
        with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _uuid):
            (path / "state.json").write_text(json.dumps({"step": step}))
    print("about to fail", file=sys.stderr, flush=True)
    sys.exit(int(os.environ["EXIT_CODE"]))
