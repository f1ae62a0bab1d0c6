"""When the trainer steps the schedulers of the learning rate."""

from __future__ import annotations

from ._lr_scheduler import LRScheduler

Mode = LRScheduler.StepMode


def step_all(
    schedulers: list[LRScheduler], batches: int, epochs: int, epoch_ended: bool, frequency: int
) -> None:
    """Steps those whose moment this is: ``batches`` and ``epochs`` are how many are done, and every
    ``frequency``-th batch lets the optimizers take a step. A function of counters alone, so that a
    restored training steps as the uninterrupted one.
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
