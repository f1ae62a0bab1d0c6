"""Reports three steps and a validation, and stores a checkpoint."""

import trainyard

with trainyard.init() as ctx:
    for step in range(1, 4):
        ctx.train.report_training_metrics(step, {"loss": 1.0 / step})
    ctx.train.report_validation_metrics(3, {"loss": 0.25})
    with ctx.checkpoint.store_path({"steps_completed": 3}) as (path, _uuid):
        (path / "state.txt").write_text("3\n")
