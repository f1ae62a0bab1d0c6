"""Stores weights that are sent in more than one piece, and compares them after a restart."""

import hashlib
import json
import os
import sys
import time

import trainyard

BYTES = 70 << 20
STEPS = 2


def main():
    # The log shows the environment that training sees.
    print(json.dumps(dict(os.environ)), flush=True)
    with trainyard.init() as ctx:
        first = 0
        latest = ctx.info.latest_checkpoint
        if latest is not None:
            with ctx.checkpoint.restore_path(latest) as path:
                state = json.loads((path / "state.json").read_text())
                digest = hashlib.sha256((path / "weights").read_bytes()).hexdigest()
            same = "the same" if digest == state["sha256"] else "other"
            print(f"restored step {state['step']} with {same} weights", flush=True)
            first = state["step"]
        for step in range(first + 1, STEPS + 1):
            weights = os.urandom(BYTES)
            digest = hashlib.sha256(weights).hexdigest()
            ctx.train.report_validation_metrics(step, {"loss": 1.0 / step})
            with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _uuid):
                (path / "weights").write_bytes(weights)
                (path / "state.json").write_text(json.dumps({"step": step, "sha256": digest}))
            print(f"stored step {step}", flush=True)
            while latest is None:
                if ctx.preempt.should_preempt():
                    return
                time.sleep(0.1)


main()
sys.exit(0)
