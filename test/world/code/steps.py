"""Takes steps, reports each, validates and checkpoints some; a lock proves that no trial runs twice
at a time.
"""

import fcntl
import json
import os
import pathlib
import sys
import time

import trainyard

STEPS = int(os.environ.get("STEPS", "12"))
STEP_SECONDS = float(os.environ.get("STEP_SECONDS", "0.05"))
VALIDATE_EVERY = 3
WITNESS = os.environ.get("WITNESS")
# Once this file exists, steps take no time.
HURRY = pathlib.Path(os.environ.get("HURRY", "/nonexistent"))


def witness(trial_id):
    """A lock per trial, held while its process lives, with any agent; a second holder is recorded."""
    if WITNESS is None:
        return None
    folder = pathlib.Path(WITNESS)
    folder.mkdir(parents=True, exist_ok=True)
    # The file stays open, and so locked, as long as the process lives.
    lock = (folder / f"{trial_id}.lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        (folder / f"{trial_id}.twice").write_text("two processes of a trial at the same time\n")
    return lock


def take_step():
    end = time.monotonic() + STEP_SECONDS
    while time.monotonic() < end and not HURRY.exists():
        time.sleep(min(STEP_SECONDS, 0.25))


def main():
    with trainyard.init() as ctx:
        held = witness(ctx.info.trial_id)
        first = 0
        latest = ctx.info.latest_checkpoint
        if latest is not None:
            with ctx.checkpoint.restore_path(latest) as path:
                first = json.loads((path / "state.json").read_text())["step"]
        print(f"starts at {first} with {json.dumps(ctx.info.hparams, sort_keys=True)}", flush=True)
        for step in range(first + 1, STEPS + 1):
            take_step()
            print(f"step {step}", flush=True)
            ctx.train.report_training_metrics(step, {"loss": 1.0 / step})
            if step % VALIDATE_EVERY == 0:
                ctx.train.report_validation_metrics(step, {"loss": 1.0 / step})
                with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _uuid):
                    (path / "state.json").write_text(json.dumps({"step": step}))
                if ctx.preempt.should_preempt():
                    print(f"stops at {step}", flush=True)
                    return
        if held is not None:
            held.close()


main()
sys.exit(0)
