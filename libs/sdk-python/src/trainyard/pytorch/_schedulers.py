"""Decides when the trainer steps the learning rate schedulers."""

from __future__ import annotations

from ._lr_scheduler import LRScheduler

Mode = LRScheduler.StepMode


def step_all(
    schedulers: list[LRScheduler], batches: int, epochs: int, epoch_ended: bool, frequency: int
) -> None:
    """Steps the schedulers that are due. ``batches`` and ``epochs`` are the completed ones, and every
    ``frequency``-th batch has an optimizer step. The result depends only on counters, so that a restored training
    steps like an uninterrupted one.
    """
    for one in schedulers:
        mode, every = one.step_mode, one.frequency
        if mode is Mode.STEP_EVERY_BATCH:
            due = batches % every == 0
        elif mode is Mode.STEP_EVERY_OPTIMIZER_STEP:
            due = batches % (every * frequency) == 0
        elif mode is Mode.STEP_EVERY_EPOCH:
            due = epoch_ended and epochs % every == 0
        else:
            due = False
        if due:
            one.step()
