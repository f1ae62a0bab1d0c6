"""A small transformer that separates praise from complaint.

Its learning rate warms up, its gradients are clipped, and one metric cannot be averaged over batches.

python3 train.py                      alone, with the hyperparameters below
python3 train.py epochs=2
"""

import json
import os
import sys
from typing import Any, Optional

import torch
from model import Reader
from sentences import LONGEST, WORDS, batch_of, sentences
from torch import Tensor, nn

from trainyard import pytorch

# Default hyperparameters for a run without the platform; a trial gets its values from the search.
LOCAL_HPARAMS = {
    "learning_rate": 0.003,
    "warmup_batches": 50,
    "width": 32,
    "heads": 2,
    "layers": 2,
    "batch_size": 64,
    "sentences": 4096,
    "epochs": 4,
}


class F1(pytorch.MetricReducer):
    """The F1 score of praise over all of the validation data. F1 is a ratio, so batches and
    processes add up its counts instead of averaging it.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.counts = torch.zeros(3)

    def update(self, found: Tensor, truth: Tensor) -> None:
        both = (found & truth).sum()
        self.counts += torch.stack([both, found.sum(), truth.sum()]).cpu()

    def per_slot_reduce(self) -> list[float]:
        return self.counts.tolist()

    def cross_slot_reduce(self, per_slot_metrics: list[list[float]]) -> float:
        both, found, true = (sum(counts) for counts in zip(*per_slot_metrics))
        return 2 * both / max(1, found + true)


class SentencesTrial(pytorch.PyTorchTrial):
    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        self.context = context
        width, heads = context.get_hparam("width"), context.get_hparam("heads")
        reader = Reader(len(WORDS), LONGEST, width, heads, context.get_hparam("layers"))
        self.model = context.wrap_model(reader)
        rate, warmup = context.get_hparam("learning_rate"), context.get_hparam("warmup_batches")
        self.optimizer = context.wrap_optimizer(torch.optim.AdamW(reader.parameters(), lr=rate))
        self.scheduler = context.wrap_lr_scheduler(
            torch.optim.lr_scheduler.LinearLR(self.optimizer, 0.01, 1.0, total_iters=warmup),
            step_mode=pytorch.LRScheduler.StepMode.STEP_EVERY_BATCH,
        )
        self.f1 = context.wrap_reducer(F1(), name="f1", for_training=False)

    def build_training_data_loader(self) -> pytorch.DataLoader:
        data = sentences(self.context.get_hparam("sentences"), seed=1)
        batch_size = self.context.get_hparam("batch_size")
        return pytorch.DataLoader(data, batch_size=batch_size, shuffle=True, collate_fn=batch_of)

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(sentences(512, seed=2), batch_size=128, collate_fn=batch_of)

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Any]:
        loss = self.loss(self.model(batch[0]), batch[1])
        self.context.backward(loss)
        self.context.step_optimizer(
            self.optimizer,
            clip_grads=lambda parameters: nn.utils.clip_grad_norm_(parameters, 1.0),
        )
        return {"loss": loss, "learning_rate": self.scheduler.get_last_lr()[0]}

    def evaluate_batch(self, batch: Any) -> dict[str, Tensor]:
        scores, truth = self.model(batch[0]), batch[1].bool()
        self.f1.update(scores > 0, truth)
        right = (scores > 0) == truth
        return {
            "validation_loss": self.loss(scores, batch[1]),
            "accuracy": right.float().mean(),
        }

    def loss(self, scores: Tensor, truth: Tensor) -> Tensor:
        return nn.functional.binary_cross_entropy_with_logits(scores, truth.float())


def local_hparams() -> Optional[dict[str, Any]]:
    """Returns LOCAL_HPARAMS, overridden by arguments name=value; None in a task, which has its
    values.
    """
    if "TRAINYARD_TRIAL_ID" in os.environ:
        return None
    given = dict(argument.split("=", 1) for argument in sys.argv[1:])
    return {**LOCAL_HPARAMS, **{name: json.loads(value) for name, value in given.items()}}


def main() -> None:
    with pytorch.init(hparams=local_hparams()) as context:
        trainer = pytorch.Trainer(SentencesTrial(context), context)
        trainer.fit(
            max_length=pytorch.Epoch(context.get_hparam("epochs")),
            validation_period=pytorch.Epoch(1),
            checkpoint_period=pytorch.Epoch(2),
            reporting_period=pytorch.Batch(16),
        )


if __name__ == "__main__":
    main()
