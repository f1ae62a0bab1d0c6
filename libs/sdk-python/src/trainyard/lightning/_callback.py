"""The callback that connects Lightning's ``Trainer`` with the platform.

A checkpoint is what ``trainer.save_checkpoint`` writes, and beside it each rank's random states. It
is written at the end of an optimizer step or of an epoch, never between: what falls on the last
step of an epoch is left to the epoch's end, after its validation. Around a validation within the
training the random states are put back, so that whether a resumed run validates again changes
nothing.

With ``ResumableDataLoader`` a run that was killed ends on CPU with the weights of one that was not,
to the bit, wherever it was killed. With another loader the random numbers after a restart are
others than without one, since Lightning lets it draw some on the way, and so is its order where it
draws that. Lightning keeps neither the sums behind ``on_epoch=True`` metrics nor, for a
``ReduceLROnPlateau`` that steps by epoch, its step at the checkpoint of an epoch's end.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from .. import _random_state
from .._context import Context
from .._frameworks import check_processes, store_together
from ._loader import ResumableDataLoader
from ._logger import Logger
from ._package import callbacks

_STATE = "trainer.ckpt"


@contextlib.contextmanager
def checkpoint_path(ctx: Context) -> Iterator[str | None]:
    """Yields what ``Trainer.fit(ckpt_path=…)`` takes: the state in the trial's latest checkpoint,
    or None for a trial that has none. ``Callback.fit`` uses it.
    """
    if ctx.info.latest_checkpoint is None:
        yield None
        return
    with ctx.checkpoint.restore_path(ctx.info.latest_checkpoint) as folder:
        yield str(folder / _STATE)


class Callback(callbacks.Checkpoint):
    """Stores checkpoints, reports progress and stops the trainer when asked.

    It stores every ``every_n_train_steps`` optimizer steps, every ``every_n_epochs`` epochs and at
    the end; None means not at such times. It takes the place of Lightning's own
    ``ModelCheckpoint``, which may be given beside it to keep files elsewhere.
    """

    def __init__(
        self,
        ctx: Context,
        *,
        every_n_train_steps: int | None = None,
        every_n_epochs: int | None = 1,
    ) -> None:
        for name, value in (
            ("every_n_train_steps", every_n_train_steps),
            ("every_n_epochs", every_n_epochs),
        ):
            if value is not None and value < 1:
                raise ValueError(f"Callback: {name} must be 1 or more, or None, not {value}")
        self._ctx = ctx
        self._every_steps = every_n_train_steps
        self._every_epochs = every_n_epochs
        self._resumed_from: Path | None = None
        self._random: dict[str, Any] | None = None
        self._steps = 0
        self._saved_steps: int | None = None
        self._percent = -1
        # The rest of an epoch's last step for the epoch's end.
        self._save_at_end = self._stop_at_end = False

    def fit(self, trainer: Any, model: Any, *more: Any, **arguments: Any) -> Any:
        """Calls ``trainer.fit`` from the trial's latest checkpoint, or from the start."""
        with checkpoint_path(self._ctx) as path:
            self._resumed_from = Path(path).parent if path is not None else None
            return trainer.fit(model, *more, ckpt_path=path, **arguments)

    def setup(self, trainer: Any, pl_module: object, stage: str) -> None:
        """Compares the trainer's processes with the run's, and lets the loggers know the trainer."""
        check_processes(self._ctx, trainer.world_size, "Trainer")
        for logger in trainer.loggers:
            if isinstance(logger, Logger):
                logger.follow(trainer)

    def on_train_start(self, trainer: Any, pl_module: object) -> None:
        """Takes up the random states where the checkpoint left them."""
        self._steps = trainer.global_step
        if self._resumed_from is not None:
            self._saved_steps = trainer.global_step
            _random_state.load(self._resumed_from, self._ctx.distributed.rank)
            # Lightning draws more until it asks for a batch, when it makes loaders ready.
            states = _random_state.read()
            for loader in _resumable_loaders(trainer.train_dataloader):
                loader.before_next_pass = partial(_random_state.write, states)
        # A resumed trainer may begin with the validation that followed the checkpoint.
        self._random = _random_state.read()

    def on_train_batch_end(
        self, trainer: Any, pl_module: object, outputs: object, batch: object, batch_idx: int
    ) -> None:
        """After an optimizer step: stores when it is time, and asks whether to stop."""
        self._random = _random_state.read()
        if trainer.global_step == self._steps:
            return
        self._steps = trainer.global_step
        self._report_progress(trainer)
        save = self._every_steps is not None and self._steps % self._every_steps == 0
        stop = not _is_complete(trainer) and self._ctx.preempt.should_preempt()
        if trainer.is_last_batch:
            self._save_at_end, self._stop_at_end = save or stop, stop
            return
        if save or stop:
            self._save(trainer)
        if stop:
            _end_early(trainer)
            # The training ends without another validation, as when the module's
            # on_train_batch_start returns -1.
            raise StopIteration

    def on_validation_end(self, trainer: Any, pl_module: object) -> None:
        """Puts the random states back to those of the training."""
        if self._random is not None and not trainer.sanity_checking:
            _random_state.write(self._random)

    def on_train_epoch_end(self, trainer: Any, pl_module: object) -> None:
        """Stores the end of an epoch, and stops there if the last step was asked to."""
        done = trainer.current_epoch + 1
        due = self._every_epochs is not None and done % self._every_epochs == 0
        if trainer.is_last_batch and (due or self._save_at_end or self._stop_at_end):
            self._save(trainer)
        if self._stop_at_end:
            _end_early(trainer)
        self._save_at_end = self._stop_at_end = False

    def on_train_end(self, trainer: object, pl_module: object) -> None:
        """Stores what the training ended with, also where another callback has ended it."""
        if not self._ctx.preempt.acknowledged:
            self._save(trainer)
        self._report_progress(trainer)

    def _save(self, trainer: Any) -> None:
        if self._saved_steps == trainer.global_step:
            return
        self._saved_steps = trainer.global_step
        metadata = {"steps_completed": trainer.global_step, "epoch": trainer.current_epoch}
        with store_together(self._ctx, metadata) as (folder, _):
            trainer.save_checkpoint(folder / _STATE)
            _random_state.save(folder, self._ctx.distributed.rank)

    def _report_progress(self, trainer: object) -> None:
        progress = _progress_of(trainer)
        if progress is not None and int(progress * 100) > self._percent:
            self._percent = int(progress * 100)
            self._ctx.train.report_progress(progress)


def _resumable_loaders(loaders: object) -> list[ResumableDataLoader]:
    """Those among a trainer's loaders: one, or a list or dict of them."""
    if isinstance(loaders, Mapping):
        loaders = list(loaders.values())
    several = loaders if isinstance(loaders, (list, tuple)) else [loaders]
    return [loader for loader in several if isinstance(loader, ResumableDataLoader)]


def _end_early(trainer: Any) -> None:
    """Ends the training at the next opportunity; it is the platform's wish, so no minimum holds."""
    trainer.should_stop = True
    trainer.fit_loop.min_epochs = 0
    trainer.fit_loop.epoch_loop.min_steps = None


def _is_complete(trainer: Any) -> bool:
    """Whether this was the last step: then there is nothing left to stop."""
    if trainer.max_steps != -1 and trainer.global_step >= trainer.max_steps:
        return True
    last = trainer.max_epochs not in (None, -1) and trainer.current_epoch + 1 >= trainer.max_epochs
    return bool(last and trainer.is_last_batch)


def _progress_of(trainer: Any) -> float | None:
    """How much of the training is done, from 0 to 1; None for a training without an end."""
    parts = []
    if trainer.max_steps not in (None, -1):
        parts.append(trainer.global_step / max(1, trainer.max_steps))
    if trainer.max_epochs not in (None, -1):
        batches = trainer.num_training_batches
        within = trainer.fit_loop.batch_idx + 1
        share = 0.0 if batches in (0, float("inf")) else min(1.0, within / batches)
        epochs = trainer.fit_loop.epoch_progress.current.processed
        begun = share if epochs == trainer.current_epoch else 0.0
        parts.append((epochs + begun) / max(1, trainer.max_epochs))
    return min(1.0, max(parts)) if parts else None
