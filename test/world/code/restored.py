"""Stores three checkpoints, then ends by SIGKILL once the file in GO exists. A later run restores and finishes."""

import os
import signal
import time
from pathlib import Path

import trainyard

with trainyard.init() as ctx:
    step = 0
    if ctx.info.latest_checkpoint is not None:
        with ctx.checkpoint.restore_path(ctx.info.latest_checkpoint, compare=True) as folder:
            step = int((folder / "step").read_text())
    print(f"run {ctx.info.run} starts at {step}", flush=True)
    while step < 3:
        step += 1
        with ctx.checkpoint.store_path({"steps_completed": step}) as (folder, _):
            (folder / "step").write_text(str(step))
    while ctx.info.run == 1:
        if Path(os.environ["GO"]).exists():
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.1)
