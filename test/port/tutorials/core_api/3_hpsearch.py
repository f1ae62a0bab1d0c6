"""A training loop whose hyperparameter and length come from the search."""

import logging

import determined as det


def main(core_context, increment_by):
    x, done = 0, 0
    for op in core_context.searcher.operations():
        while done < op.length:
            x += increment_by
            done += 1
            if done % 10 == 0:
                core_context.train.report_training_metrics(steps_completed=done, metrics={"x": x})
                core_context.train.report_validation_metrics(steps_completed=done, metrics={"x": x})
                op.report_progress(done)
                with core_context.checkpoint.store_path({"steps_completed": done}) as (folder, _):
                    (folder / "x").write_text(str(x))
                if core_context.preempt.should_preempt():
                    return
        op.report_completed(x)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format=det.LOG_FORMAT)
    info = det.get_cluster_info()
    assert info is not None, "this script runs on a cluster"
    with det.core.init() as core_context:
        main(core_context, info.trial.hparams["increment_by"])
