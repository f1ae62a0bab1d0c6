"""Writes the reason of a stop to a file, but asks whether to stop only when another file appears."""

import os
import time

import trainyard

go = os.environ["GO"]
with trainyard.init() as ctx:
    while not os.path.exists(go):
        with open(f"{go}.new", "w") as file:
            file.write(ctx.preempt.why or "none")
        os.replace(f"{go}.new", f"{go}.why")
        time.sleep(0.05)
    if not ctx.preempt.should_preempt():
        ctx.train.report_validation_metrics(1, {"loss": 1.0})
