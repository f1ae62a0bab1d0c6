"""A generative adversarial network: two models, each with its optimizer, in one trial.

python3 train.py                      alone, with the hyperparameters below
python3 train.py batches=500
"""

import json
import os
import sys
from typing import Any, Optional

import torch
from rings import energy_distance, places_reached, points
from torch import Tensor, nn

from trainyard import pytorch

# Default hyperparameters for a run without the platform; a trial gets its values from the search.
LOCAL_HPARAMS = {
    "generator_rate": 0.001,
    "discriminator_rate": 0.001,
    "width": 64,
    "noise": 8,
    "batch_size": 256,
    "batches": 2000,
}


class RingTrial(pytorch.PyTorchTrial):
    def __init__(self, context: pytorch.PyTorchTrialContext) -> None:
        self.context = context
        width, noise = context.get_hparam("width"), context.get_hparam("noise")
        self.generator = context.wrap_model(network(noise, width, 2))
        self.discriminator = context.wrap_model(network(2, width, 1))
        self.generator_step = context.wrap_optimizer(
            adam(self.generator, context.get_hparam("generator_rate"))
        )
        self.discriminator_step = context.wrap_optimizer(
            adam(self.discriminator, context.get_hparam("discriminator_rate"))
        )

    def build_training_data_loader(self) -> pytorch.DataLoader:
        batch_size = self.context.get_hparam("batch_size")
        return pytorch.DataLoader(points(4096, seed=1), batch_size=batch_size, shuffle=True)

    def build_validation_data_loader(self) -> pytorch.DataLoader:
        return pytorch.DataLoader(points(1024, seed=2), batch_size=256)

    def train_batch(self, batch: Any, epoch_idx: int, batch_idx: int) -> dict[str, Tensor]:
        generated = self.generate(len(batch))

        real_score, false_score = self.discriminator(batch), self.discriminator(generated.detach())
        discriminator_loss = towards(real_score, 1.0) + towards(false_score, 0.0)
        self.context.backward(discriminator_loss)
        self.context.step_optimizer(self.discriminator_step)

        # The generator's loss also adds gradients to the discriminator; they are cleared at the
        # end.
        generator_loss = towards(self.discriminator(generated), 1.0)
        self.context.backward(generator_loss)
        self.context.step_optimizer(self.generator_step)
        self.discriminator_step.zero_grad()
        return {"discriminator_loss": discriminator_loss, "generator_loss": generator_loss}

    def evaluate_full_dataset(self, data_loader: Any) -> dict[str, Tensor]:
        # The metric compares two whole clouds of points, so it cannot be averaged over batches.
        real = torch.cat([self.context.to_device(batch) for batch in data_loader])
        generated = self.generate(len(real))
        return {
            "distance": energy_distance(generated, real),
            "places_reached": places_reached(generated),
        }

    def generate(self, count: int) -> Tensor:
        noise = torch.randn(count, self.context.get_hparam("noise"), device=self.context.device)
        return self.generator(noise)


def network(inputs: int, width: int, outputs: int) -> nn.Module:
    return nn.Sequential(
        nn.Linear(inputs, width),
        nn.ReLU(),
        nn.Linear(width, width),
        nn.ReLU(),
        nn.Linear(width, outputs),
    )


def adam(model: nn.Module, rate: float) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=rate, betas=(0.5, 0.9))


def towards(score: Tensor, truth: float) -> Tensor:
    return nn.functional.binary_cross_entropy_with_logits(score, torch.full_like(score, truth))


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
        trainer = pytorch.Trainer(RingTrial(context), context)
        trainer.fit(
            max_length=pytorch.Batch(context.get_hparam("batches")),
            validation_period=pytorch.Batch(250),
            checkpoint_period=pytorch.Batch(500),
            reporting_period=pytorch.Batch(50),
        )


if __name__ == "__main__":
    main()
