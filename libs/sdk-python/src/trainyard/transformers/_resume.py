"""The checkpoint from which the Hugging Face ``Trainer`` continues."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from .._context import Context


@contextlib.contextmanager
def resume_from_checkpoint(ctx: Context) -> Iterator[str | None]:
    """Yields the argument for ``Trainer.train(resume_from_checkpoint=…)``: the folder of the trial's latest
    checkpoint, or None without one. The folder may be read until the block ends.

    ``Callback.train`` uses this, and also handles a checkpoint of the completed training.
    """
    if ctx.info.latest_checkpoint is None:
        yield None
        return
    with ctx.checkpoint.restore_path(ctx.info.latest_checkpoint) as path:
        yield str(path)
