"""Trainyard in PyTorch Lightning, imported as ``lightning`` or as ``pytorch_lightning``.

import lightning
import trainyard
from trainyard.lightning import Callback, Environment, Logger

with trainyard.init() as ctx:
    callback = Callback(ctx, every_n_train_steps=100)
    trainer = lightning.Trainer(
        max_epochs=3, logger=Logger(ctx), callbacks=[callback], plugins=[Environment(ctx)]
    )
    callback.fit(trainer, model)

Import the script's one of the two packages before this module; otherwise, if both are installed, it uses
``lightning``.
"""

from ._callback import Callback, checkpoint_path
from ._environment import Environment
from ._loader import ResumableDataLoader
from ._logger import Logger

__all__ = ["Callback", "Environment", "Logger", "ResumableDataLoader", "checkpoint_path"]
