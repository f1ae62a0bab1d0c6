"""A training that saves its model, and continues with it."""

import pathlib

import data
import determined as det
import loop
import torch


def main(core_context, latest_checkpoint):
    torch.manual_seed(1)
    model = loop.network()
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    first = 0
    if latest_checkpoint is not None:
        with core_context.checkpoint.restore_path(latest_checkpoint) as path:
            saved = torch.load(pathlib.Path(path) / "checkpoint.pt")
            model.load_state_dict(saved["model"])
            first = saved["epochs"]
    train = torch.utils.data.DataLoader(data.pictures(256, 2), batch_size=32)
    test = torch.utils.data.DataLoader(data.pictures(64, 3), batch_size=32)
    for epoch in range(first, 2):
        loop.train_epoch(model, train, optimizer)
        done = (epoch + 1) * len(train)
        loss, _ = loop.validate(model, test)
        core_context.train.report_validation_metrics(
            steps_completed=done, metrics={"test_loss": loss}
        )
        with core_context.checkpoint.store_path({"steps_completed": done}) as (path, _):
            torch.save({"model": model.state_dict(), "epochs": epoch + 1}, path / "checkpoint.pt")
        if core_context.preempt.should_preempt():
            return


if __name__ == "__main__":
    info = det.get_cluster_info()
    assert info is not None
    with det.core.init() as core_context:
        main(core_context, info.latest_checkpoint)
