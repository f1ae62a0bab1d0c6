"""Trains one network on the iris data: a trial of a search under Trainyard, or a plain script.

python3 train.py                          with the hyperparameters below
python3 train.py learning_rate=0.1 epochs=100
"""

import json
import random
import sys
import time
from pathlib import Path
from typing import Any

try:
    import trainyard
except ModuleNotFoundError:
    # This script runs outside of a task, in a checkout without an installed SDK.
    sys.path.append(str(Path(__file__).resolve().parents[2] / "libs" / "sdk-python" / "src"))
    import trainyard

from flowers import read_flowers, split_flowers
from network import Network

# Default hyperparameters for a run without the platform; a trial gets its values from the search.
LOCAL_HPARAMS = {
    "learning_rate": 0.03,
    "hidden_units": 8,
    "momentum": 0.9,
    "batch_size": 16,
    "epochs": 40,
    "checkpoint_epochs": 10,
    # The shortest duration of an epoch: slow epochs let people watch trials stop early.
    "epoch_seconds": 0,
}


def main(ctx: trainyard.Context) -> None:
    hparams, seed = ctx.info.hparams, ctx.info.trial_seed
    epochs = hparams["epochs"]
    flowers = split_flowers(read_flowers())
    network = Network(hparams["hidden_units"], seed)
    epoch = saved = restore(ctx, network)
    print(
        f"training on {len(flowers.training)} flowers: {epoch} of {epochs} epochs done", flush=True
    )
    while epoch < epochs:
        epoch += 1
        time.sleep(hparams.get("epoch_seconds", 0))
        loss = network.train_epoch(
            flowers.training,
            # The order depends on the epoch alone, so a restored run sees the same order.
            random.Random(f"{seed}/{epoch}"),
            hparams["batch_size"],
            hparams["learning_rate"],
            hparams["momentum"],
        )
        validation, held_out = network.score(flowers.validation), network.score(flowers.held_out)
        ctx.train.report_training_metrics(epoch, {"loss": loss})
        ctx.train.report_validation_metrics(
            epoch,
            {
                "validation_loss": validation.loss,
                "validation_accuracy": validation.accuracy,
                # The search uses the epoch as its time metric.
                "epochs": epoch,
                # This accuracy lets people judge the result. No decision depends on it.
                "held_out_accuracy": held_out.accuracy,
            },
        )
        ctx.train.report_progress(epoch / epochs)
        # After the last epoch there is nothing left to stop.
        stop = epoch < epochs and ctx.preempt.should_preempt()
        if stop or epoch == epochs or epoch - saved >= hparams["checkpoint_epochs"]:
            save(ctx, network, epoch)
            saved = epoch
            print(
                f"epoch {epoch}: validation loss {validation.loss:.4f}, "
                f"accuracy {validation.accuracy:.3f}, held out {held_out.accuracy:.3f}",
                flush=True,
            )
        if stop:
            print(f"asked to stop ({ctx.preempt.why}), saved at epoch {epoch}", flush=True)
            return


def restore(ctx: trainyard.Context, network: Network) -> int:
    """Returns the epoch of the latest checkpoint, 0 without a checkpoint."""
    if ctx.info.latest_checkpoint is None:
        return 0
    with ctx.checkpoint.restore_path(ctx.info.latest_checkpoint) as path:
        state = json.loads((path / "network.json").read_text())
    network.restore(state["network"])
    return state["epoch"]


def save(ctx: trainyard.Context, network: Network, epoch: int) -> None:
    state = {"epoch": epoch, "network": network.state()}
    with ctx.checkpoint.store_path({"steps_completed": epoch}) as (path, _):
        (path / "network.json").write_text(json.dumps(state))


def local_hparams(arguments: list[str]) -> dict[str, Any]:
    """Returns LOCAL_HPARAMS, overridden by command-line arguments of the form name=value."""
    given = dict(argument.split("=", 1) for argument in arguments)
    return {**LOCAL_HPARAMS, **{name: json.loads(value) for name, value in given.items()}}


if __name__ == "__main__":
    with trainyard.init(local_hparams=local_hparams(sys.argv[1:])) as context:
        main(context)
