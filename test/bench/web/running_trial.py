"""A trial that reports two losses and runs until it is killed."""

import time

import trainyard

with trainyard.init() as ctx:
    for step in (1, 2):
        ctx.train.report_training_metrics(step, {"loss": 1 / step})
    print("reported", flush=True)
    while True:
        time.sleep(1)
