"""The callback that connects Lightning's ``Trainer`` with the platform.

A checkpoint has the files of ``trainer.save_checkpoint`` and each rank's random states. It is written at the end
of an optimizer step or of an epoch. A checkpoint that is due at the last step of an epoch is written at the
epoch's end, after its validation. After a validation within the training the random states are restored, so that a
resumed run has the same states whether or not it validates again.

With ``ResumableDataLoader`` on CPU, a run that was killed at any point and resumed has bit for bit the weights of
an uninterrupted one. With another loader, Lightning draws additional random numbers at a restart, so the random
numbers and a random order differ. A checkpoint of Lightning lacks the sums of ``on_epoch=True`` metrics. At an
epoch's end it also lacks the step of a ``ReduceLROnPlateau`` that steps by epoch.
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
    """Yields the argument for ``Trainer.fit(ckpt_path=…)``: the path of the trial's latest checkpoint, or None
    without one. ``Callback.fit`` uses it.
    """
    if ctx.info.latest_checkpoint is None:
        yield None
        return
    with ctx.checkpoint.restore_path(ctx.info.latest_checkpoint) as folder:
        yield str(folder / _STATE)


class Callback(callbacks.Checkpoint):
    """Stores checkpoints, reports progress and stops the trainer on request. Checkpoints are stored every
    ``every_n_train_steps`` optimizer steps, every ``every_n_epochs`` epochs and at the end; None disables an
    interval. The callback replaces Lightning's ``ModelCheckpoint``, which may be used in addition to keep files
    elsewhere.
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
        # A save or stop that is due at an epoch's last step waits for the epoch's end.
        self._save_at_end = self._stop_at_end = False

    def fit(self, trainer: Any, model: Any, *more: Any, **arguments: Any) -> Any:
        """Calls ``trainer.fit`` from the trial's latest checkpoint, or from the start if it has none."""
        with checkpoint_path(self._ctx) as path:
            self._resumed_from = Path(path).parent if path is not None else None
            return trainer.fit(model, *more, ckpt_path=path, **arguments)

    def setup(self, trainer: Any, pl_module: object, stage: str) -> None:
        """Checks that the trainer has the run's processes, and passes the trainer to the loggers."""
        check_processes(self._ctx, trainer.world_size, "Trainer")
        for logger in trainer.loggers:
            if isinstance(logger, Logger):
                logger.follow(trainer)

    def on_train_start(self, trainer: Any, pl_module: object) -> None:
        """Restores the random states of the checkpoint."""
        self._steps = trainer.global_step
        if self._resumed_from is not None:
            self._saved_steps = trainer.global_step
            _random_state.load(self._resumed_from, self._ctx.distributed.rank)
            # Lightning draws random numbers between this point and the first batch, when it sets up its loaders.
            states = _random_state.read()
            for loader in _resumable_loaders(trainer.train_dataloader):
                loader.before_next_pass = partial(_random_state.write, states)
        # A resumed trainer may start with the validation that followed the checkpoint.
        self._random = _random_state.read()

    def on_train_batch_end(
        self, trainer: Any, pl_module: object, outputs: object, batch: object, batch_idx: int
    ) -> None:
        """After an optimizer step: stores a checkpoint if one is due, and checks for a stop request."""
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
            # The exception ends the training without another validation, like -1 from the module's
            # on_train_batch_start.
            raise StopIteration

    def on_validation_end(self, trainer: Any, pl_module: object) -> None:
        """Restores the training's random states."""
        if self._random is not None and not trainer.sanity_checking:
            _random_state.write(self._random)

    def on_train_epoch_end(self, trainer: Any, pl_module: object) -> None:
        """Stores a checkpoint at the end of an epoch, and stops there if a stop was requested at the last step."""
        done = trainer.current_epoch + 1
        due = self._every_epochs is not None and done % self._every_epochs == 0
        if trainer.is_last_batch and (due or self._save_at_end or self._stop_at_end):
            self._save(trainer)
        if self._stop_at_end:
            _end_early(trainer)
        self._save_at_end = self._stop_at_end = False

    def on_train_end(self, trainer: object, pl_module: object) -> None:
        """Stores a checkpoint of the training's end, also if another callback ended it."""
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
    """The ResumableDataLoaders among a trainer's loaders: one, or a list or dict of them."""
    if isinstance(loaders, Mapping):
        loaders = list(loaders.values())
    several = loaders if isinstance(loaders, (list, tuple)) else [loaders]
    return [loader for loader in several if isinstance(loader, ResumableDataLoader)]


def _end_early(trainer: Any) -> None:
    """Ends the training at the next opportunity, also before the trainer's minimum of steps or epochs."""
    trainer.should_stop = True
    trainer.fit_loop.min_epochs = 0
    trainer.fit_loop.epoch_loop.min_steps = None


def _is_complete(trainer: Any) -> bool:
    """Whether the last step is done, so that nothing remains to be stopped."""
    if trainer.max_steps != -1 and trainer.global_step >= trainer.max_steps:
        return True
    last = trainer.max_epochs not in (None, -1) and trainer.current_epoch + 1 >= trainer.max_epochs
    return bool(last and trainer.is_last_batch)


def _progress_of(trainer: Any) -> float | None:
    """The completed fraction of the training, from 0 to 1; None for a training without an end."""
    parts = []
    if trainer.max_steps not in (None, -1):
        parts.append(trainer.global_step / max(1, trainer.max_steps))
    if trainer.max_epochs not in (None, -1):
        batches = trainer.num_training_batches
        within = trainer.fit_loop.batch_idx + 1
        share = 0.0 if batches in (0, float("inf")) else min(1.0, within / batches)
        epochs = trainer.fit_loop.epoch_progress.current.processed
        current_share = share if epochs == trainer.current_epoch else 0.0
        parts.append((epochs + current_share) / max(1, trainer.max_epochs))
    return min(1.0, max(parts)) if parts else None
