"""Where the Hugging Face ``Trainer`` continues."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from .._context import Context


@contextlib.contextmanager
def resume_from_checkpoint(ctx: Context) -> Iterator[str | None]:
    """Yields what ``Trainer.train(resume_from_checkpoint=…)`` takes: the folder of the trial's
    latest checkpoint, or None for a trial that has none.

    The folder may be read until the block is left. ``Callback.train`` uses this, and also knows
    what to do with a checkpoint that holds all of the training.
    """
    if ctx.info.latest_checkpoint is None:
        yield None
        return
    with ctx.checkpoint.restore_path(ctx.info.latest_checkpoint) as path:
        yield str(path)
