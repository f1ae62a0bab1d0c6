"""The content of a checkpoint of the trainer, and how it is loaded.

state_dict.pth    the same in all processes: models, optimizers, schedulers, scalers, counters
rank-<n>.pth      one process's random states, callbacks, position in the data, metrics that are not
                  reported yet, and gradients where a step is not complete
trial.json        the trial's class, hyperparameters and configuration, for
                  load_trial_from_checkpoint_path
"""

from ._load import load_trial_from_checkpoint_path
from ._saver import Saver, latest_of

__all__ = ["Saver", "latest_of", "load_trial_from_checkpoint_path"]
