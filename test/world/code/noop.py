"""Trains nothing: validates in short steps until it is asked to stop."""

import time

import trainyard

STEPS = 1_000
STEP_SECONDS = 0.1


def main():
    with trainyard.init() as ctx:
        rate = ctx.info.hparams["lr"]
        for step in range(1, STEPS + 1):
            ctx.train.report_validation_metrics(step, {"loss": rate + 1.0 / step})
            if ctx.preempt.should_preempt():
                return
            time.sleep(STEP_SECONDS)


main()
