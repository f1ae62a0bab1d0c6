"""TensorBoard files of a trial: ``ctx.tensorboard``.

The files are written directly to the storage of `tensorboard_storage`, or next to the checkpoints. A killed run
thus leaves its files, and the trial's next run continues in the same folder.
"""

from ._context import TensorBoardContext

__all__ = ["TensorBoardContext"]
