"""PyTorch on Trainyard. Importing this imports torch.

from trainyard import pytorch

class Trial(pytorch.PyTorchTrial):
    ...

with pytorch.init() as context:
    pytorch.Trainer(Trial(context), context).fit(max_length=pytorch.Epoch(10))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from .._missing_names import missing_import
from . import (
    _installed,  # noqa: F401 — says what to install, before what needs it
    _missing_names,
    samplers,
)
from ._callback import PyTorchCallback
from ._context import PyTorchTrialContext
from ._init import init
from ._lr_scheduler import LRScheduler
from ._parameters import reset_parameters
from ._trainer import Trainer
from ._trial import PyTorchTrial
from ._units import Batch, Epoch, Second, TrainUnit
from .checkpointing import load_trial_from_checkpoint_path
from .data import DataLoader, TorchData, adapt_batch_sampler, data_length, to_device
from .metrics import MetricReducer, Reducer

__all__ = [
    "Batch",
    "DataLoader",
    "Epoch",
    "LRScheduler",
    "MetricReducer",
    "PyTorchCallback",
    "PyTorchTrial",
    "PyTorchTrialContext",
    "Reducer",
    "Second",
    "TorchData",
    "TrainUnit",
    "Trainer",
    "adapt_batch_sampler",
    "data_length",
    "init",
    "load_trial_from_checkpoint_path",
    "reset_parameters",
    "samplers",
    "to_device",
]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        """Raises ImportError for a name that only ``determined.pytorch`` has, with its replacement."""
        raise missing_import("trainyard.pytorch", name, _missing_names.PACKAGE)
