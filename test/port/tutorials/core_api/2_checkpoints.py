"""A training loop that saves its state, stops when it is asked to, and continues from its state."""

import logging
import pathlib

import determined as det


def save(x, done, trial_id, folder):
    (folder / "state").write_text(f"{x},{done},{trial_id}")


def load(trial_id, folder):
    x, done, owner = (int(part) for part in (folder / "state").read_text().split(","))
    # The weights of another trial's checkpoint count, but not its number of steps.
    return x, done if owner == trial_id else 0


def main(core_context, latest_checkpoint, trial_id, increment_by):
    x, first = 0, 0
    if latest_checkpoint is not None:
        with core_context.checkpoint.restore_path(latest_checkpoint) as folder:
            x, first = load(trial_id, pathlib.Path(folder))
    done = first
    for batch in range(first, 100):
        x += increment_by
        done = batch + 1
        if done % 10 == 0:
            core_context.train.report_training_metrics(steps_completed=done, metrics={"x": x})
            with core_context.checkpoint.store_path({"steps_completed": done}) as (folder, uuid):
                save(x, done, trial_id, pathlib.Path(folder))
            logging.info("checkpoint %s has x %s", uuid, x)
            if core_context.preempt.should_preempt():
                return
    core_context.train.report_validation_metrics(steps_completed=done, metrics={"x": x})


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    info = det.get_cluster_info()
    assert info is not None, "this script runs on a cluster"
    with det.core.init() as core_context:
        main(core_context, info.latest_checkpoint, info.trial.trial_id, increment_by=1)
