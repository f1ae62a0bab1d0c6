"""Reports each step. The first run stores a checkpoint at step 400 and is killed after step 537;
the next one continues to step 600.
"""

import os
import signal
import time

import trainyard

STORED, KILLED, LAST = 400, 537, 600
STEP_SECONDS = 0.03


def main():
    with trainyard.init() as ctx:
        is_first = ctx.info.latest_checkpoint is None
        for step in range(1 if is_first else STORED + 1, LAST + 1):
            time.sleep(STEP_SECONDS)
            ctx.train.report_training_metrics(step, {"loss": 1.0 / step})
            if is_first and step == STORED:
                with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _uuid):
                    (path / "state").write_text("a state")
            if is_first and step == KILLED:
                os.kill(os.getpid(), signal.SIGKILL)
        ctx.train.report_validation_metrics(LAST, {"loss": 1.0 / LAST})


main()
