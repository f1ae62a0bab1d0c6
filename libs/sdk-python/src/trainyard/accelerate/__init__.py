"""Trainyard in Hugging Face Accelerate.

import trainyard
from accelerate import Accelerator
from trainyard.accelerate import Checkpoints, Tracker

with trainyard.init() as ctx:
    accelerator = Accelerator(log_with=Tracker(ctx))
    accelerator.init_trackers("training")
    …  # model, optimizer and loader through accelerator.prepare
    checkpoints = Checkpoints(ctx, accelerator)
    restored = checkpoints.restore() or {"steps_completed": 0}
"""

from ._checkpoints import Checkpoints
from ._tracker import Tracker

__all__ = ["Checkpoints", "Tracker"]
