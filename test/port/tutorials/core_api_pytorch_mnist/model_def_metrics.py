"""A training that reports its losses, and validates two data sets, each in a call of its own."""

import data
import determined as det
import loop
import torch


def main(core_context):
    torch.manual_seed(1)
    model = loop.network()
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    train = torch.utils.data.DataLoader(data.pictures(256, 2), batch_size=32)
    test = torch.utils.data.DataLoader(data.pictures(64, 3), batch_size=32)
    for epoch in range(2):

        def report(batch, loss, epoch=epoch):
            done = epoch * len(train) + batch + 1
            core_context.train.report_training_metrics(
                steps_completed=done, metrics={"train_loss": loss}
            )

        loop.train_epoch(model, train, optimizer, report)
        done = (epoch + 1) * len(train)
        for name, loader in (("train", train), ("test", test)):
            loss, accuracy = loop.validate(model, loader)
            core_context.train.report_validation_metrics(
                steps_completed=done,
                metrics={f"{name}_loss_mean": loss, f"{name}_accuracy": accuracy},
            )


if __name__ == "__main__":
    with det.core.init() as core_context:
        main(core_context)
