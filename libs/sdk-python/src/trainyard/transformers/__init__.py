"""Trainyard in the Hugging Face ``Trainer``.

import trainyard
from trainyard.transformers import Callback, training_arguments

with trainyard.init() as ctx:
    arguments = training_arguments(ctx, num_train_epochs=3, save_steps=100, eval_strategy="epoch")
    callback = Callback(ctx)
    trainer = Trainer(model, arguments, train_dataset=…, eval_dataset=…, callbacks=[callback])
    callback.train(trainer)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from .._missing_names import missing_import
from ._arguments import training_arguments
from ._callback import Callback
from ._resume import resume_from_checkpoint

__all__ = ["Callback", "resume_from_checkpoint", "training_arguments"]

_INSTEAD = {
    "DetCallback": (
        "Callback(ctx) does its work, with callback.train(trainer) in the place of "
        "trainer.train(resume_from_checkpoint=…)"
    ),
}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        """For what ``determined.transformers`` has and this module has not: says what takes its place."""
        raise missing_import("trainyard.transformers", name, _INSTEAD)
