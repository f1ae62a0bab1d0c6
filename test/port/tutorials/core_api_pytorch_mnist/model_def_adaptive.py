"""A training whose hyperparameters and length come from the search."""

import data
import determined as det
import loop
import torch


def main(core_context, hparams):
    model = loop.network()
    optimizer = torch.optim.Adadelta(model.parameters(), lr=hparams["learning_rate"])
    train = torch.utils.data.DataLoader(data.pictures(128, 2), batch_size=hparams["batch_size"])
    test = torch.utils.data.DataLoader(data.pictures(64, 3), batch_size=32)
    epochs, loss = 0, 0.0
    for op in core_context.searcher.operations():
        while epochs < op.length:
            loop.train_epoch(model, train, optimizer)
            epochs += 1
            loss, _ = loop.validate(model, test)
            core_context.train.report_validation_metrics(
                steps_completed=epochs, metrics={"test_loss": loss, "epochs": epochs}
            )
            op.report_progress(epochs)
            with core_context.checkpoint.store_path({"steps_completed": epochs}) as (path, _):
                torch.save(model.state_dict(), path / "checkpoint.pt")
            if core_context.preempt.should_preempt():
                return
        op.report_completed(loss)


if __name__ == "__main__":
    info = det.get_cluster_info()
    assert info is not None
    with det.core.init() as core_context:
        main(core_context, info.trial.hparams)
