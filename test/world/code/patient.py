"""Asks whether to stop only once, when a file appears, and finishes without a stop."""

import os
import time

import trainyard

go = os.environ["GO"]
with trainyard.init() as ctx:
    with open(f"{go}.awaited", "w"):
        pass
    while not os.path.exists(go):
        time.sleep(0.05)
    if not ctx.preempt.should_preempt():
        ctx.train.report_validation_metrics(1, {"loss": 1.0})
