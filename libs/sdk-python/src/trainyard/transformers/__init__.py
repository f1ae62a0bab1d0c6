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

from ._arguments import training_arguments
from ._callback import Callback
from ._det_callback import DetCallback
from ._resume import resume_from_checkpoint

__all__ = ["Callback", "DetCallback", "resume_from_checkpoint", "training_arguments"]
