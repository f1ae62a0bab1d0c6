"""Trainyard with DeepSpeed engines.

import trainyard
from trainyard.deepspeed import Checkpoints, initialize

with trainyard.init(distributed=trainyard.DistributedContext.from_torch_distributed()) as ctx:
    engine, _, loader, _ = initialize(ctx, "deepspeed.json", model=model, training_data=data)
    checkpoints = Checkpoints(ctx, engine)
    restored = checkpoints.restore() or {}
    …
        engine.backward(loss)
        engine.step()
        if checkpoints.stepped() and ctx.preempt.should_preempt():
            checkpoints.save(epoch=epoch)
            break

Start it with ``python -m trainyard.launch.torch train.py``, one process for each slot. It is
written against DeepSpeed's documented interface and tested with a stand-in that has that interface,
on CPU: DeepSpeed itself could not be installed where it is tested.
"""

from ._checkpoints import Checkpoints
from ._configuration import configuration, initialize

__all__ = ["Checkpoints", "configuration", "initialize"]
