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

Start the script with ``python -m trainyard.launch.torch train.py``, which runs one process per slot. The
integration follows DeepSpeed's documented interface. It is tested on CPU with a stand-in for DeepSpeed, which
cannot be installed on the test machines.
"""

from ._checkpoints import Checkpoints
from ._configuration import configuration, initialize

__all__ = ["Checkpoints", "configuration", "initialize"]
