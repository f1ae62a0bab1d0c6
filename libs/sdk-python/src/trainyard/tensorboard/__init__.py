"""TensorBoard files of a trial: ``ctx.tensorboard``.

They are on the storage of `tensorboard_storage`, or beside the checkpoints, from the moment that they are written: a
run that is killed leaves what it had written, and the next run of the trial continues in the same folder.
"""

from ._context import TensorBoardContext

__all__ = ["TensorBoardContext"]
