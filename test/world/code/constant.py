"""Reports the same loss at each step, and prints it: each report and line shows which run made it."""

import os
import time

import trainyard

LOSS = float(os.environ["LOSS"])


def main():
    with trainyard.init() as ctx:
        for step in range(1, int(ctx.info.hparams["steps"]) + 1):
            time.sleep(0.2)
            print(f"loss {LOSS:g} at step {step}", flush=True)
            ctx.train.report_training_metrics(step, {"loss": LOSS})
            if step % 5 == 0:
                ctx.train.report_validation_metrics(step, {"loss": LOSS})


if __name__ == "__main__":
    main()
