"""A training loop that reports its metrics."""

import logging

import determined as det


def main(core_context, increment_by):
    x = 0
    for batch in range(100):
        x += increment_by
        done = batch + 1
        if done % 10 == 0:
            core_context.train.report_training_metrics(steps_completed=done, metrics={"x": x})
            core_context.train.report_progress(done / 100)
            logging.info("x is now %s", x)
    core_context.train.report_validation_metrics(steps_completed=100, metrics={"x": x})


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    with det.core.init() as core_context:
        main(core_context, increment_by=1)
