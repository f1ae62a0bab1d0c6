"""The training itself.

The actions after a batch, if due, have this order: schedulers, the end of the epoch, a report of the training, a
validation, a checkpoint, the end. Thus a checkpoint is the last action of its batch, and a training that continues
from it starts with the next batch, like the uninterrupted one.
"""

from __future__ import annotations

import logging
import math
import time
from functools import partial
from typing import Any, Callable

import torch

from .._context import Context
from .._end import describe
from . import _schedulers, _seeds
from ._callback import Callbacks
from ._context import PyTorchTrialContext
from ._coordinator import NO_SIGNALS, Coordinator, Signals, is_due, next_due, timed_of
from ._plan import Plan, batches_of
from ._progress import Counters
from ._reports import Reports
from ._source import Source, source_of, worker_loss_explained
from ._training import Training
from ._trial import PyTorchTrial
from ._units import Second
from ._validation import Validation
from ._watchdog import Watchdog
from .checkpointing import Saver, latest_of
from .metrics import training_metrics_of

_log = logging.getLogger("trainyard.pytorch")


class Loop:
    """The execution of one ``Trainer.fit``."""

    def __init__(
        self,
        trial: PyTorchTrial,
        context: PyTorchTrialContext,
        training: Training,
        core: Context,
        plan: Plan,
        counters: Counters,
    ) -> None:
        self._trial = trial
        self._context = context
        self._training = training
        self._core = core
        self._plan = plan
        self._counters = counters
        self._place = training.place
        self._callbacks = Callbacks(trial.build_callbacks())
        self._source: Source = source_of(trial.build_training_data_loader(), context)
        plan.check_against(self._source.length)
        self._place.epoch_length = self._source.length
        self._validation = Validation(
            trial, context, training, core.train, self._callbacks, counters
        )
        self._reports = Reports(training, core.train, counters, self._callbacks)
        self._watchdog = Watchdog(training.place, context.distributed)
        self._saver = Saver(trial, context, core.checkpoint, self._callbacks, counters)
        self._parts: dict[str, Any] = {"source": self._source, "reports": self._reports}
        # Training metrics without a number whose warning was logged.
        self._left_out: set[str] = set()
        self._began_s = 0.0
        # No action with a period in batches or epochs is due before this number of batches.
        self._next_due = 0

    def run(self, latest_checkpoint: str | None) -> None:
        """Trains until the plan is complete or a stop is requested. Errors of the data loader are converted here,
        too, since its signal may arrive while another error is handled. For the same reason the mode of gradients is
        restored here: the signal may interrupt the end of a ``torch.no_grad()``.
        """
        gradients = torch.is_grad_enabled()
        try:
            with worker_loss_explained():
                self._run(latest_checkpoint)
        finally:
            torch.set_grad_enabled(gradients)

    def _run(self, latest_checkpoint: str | None) -> None:
        counters, callbacks = self._counters, self._callbacks
        uuid = None
        begin: Callable[[], None] | None = None
        if counters.batches == 0:
            uuid = latest_of(self._context, latest_checkpoint)
            if uuid is not None:
                begin = self._saver.restore(uuid, self._parts)
        self._place.initial = self._place.batch = counters.batches
        self._watchdog.start()
        try:
            callbacks.call("on_trial_startup", counters.batches, uuid)
            with worker_loss_explained():
                self._prepare(begin)
                self._train()
        except BaseException:
            self._leave(failed=True)
            raise
        self._leave(failed=False)

    def _leave(self, failed: bool) -> None:
        """Releases all resources. If the training has failed, errors of the release are only logged, since the
        training's error is raised.
        """
        first: Exception | None = None
        shutdown = partial(self._callbacks.call, "on_trial_shutdown")
        for act in (self._watchdog.stop, self._source.close, self._saver.close, shutdown):
            try:
                act()
            except Exception as error:
                if failed or first is not None:
                    _log.warning("ending the training raised another error: %s", describe(error))
                first = first or error
        if first is not None and not failed:
            raise first

    def _prepare(self, begin: Callable[[], None] | None) -> None:
        """Prepares the state before the first batch."""
        context, counters = self._context, self._counters
        for model in context.models:
            model.train()
        self._source.open(counters.batches)
        if self._plan.step_zero_validation and counters.batches == 0:
            self._validate()
        self._callbacks.call("on_training_start")
        if begin is not None:
            begin()
        elif counters.batches == 0 and context.distributed.rank > 0:
            _seeds.seed_rank(context, 0)

    def _train(self) -> None:
        plan, counters, profiling = self._plan, self._counters, self._training.profiling
        self._began_s = time.monotonic() - counters.seconds
        coordinator = Coordinator(
            self._context,
            self._core.preempt,
            timed_of(**plan.units()),
            {"max_length": self._began_s},
        )
        profiling.start(self._core.profiler, plan.profiling_enabled)
        try:
            ended = self._is_long_enough(NO_SIGNALS)
            while not ended:
                self._step(counters.batches)
                profiling.step()
                signals = coordinator.after(counters.batches)
                self._do_what_is_due(signals, coordinator)
                ended = self._is_long_enough(signals)
                if not ended and (signals.preempted or signals.stop_requested):
                    self._stop(signals)
                    return
        finally:
            profiling.stop()
        self._finish()

    def _is_long_enough(self, signals: Signals) -> bool:
        length = self._plan.max_length
        if isinstance(length, Second):
            return "max_length" in signals.due
        return self._counters.batches >= batches_of(length, self._place.epoch_length)

    def _step(self, batch_idx: int) -> None:
        """Trains on one batch."""
        context, training, counters = self._context, self._training, self._counters
        place = self._place
        epoch = place.epoch_of(batch_idx)
        plain = not training.begin_batch(context, batch_idx)
        if place.starts_epoch(batch_idx):
            self._callbacks.call("on_training_epoch_start", epoch)
        batch = next(self._source)
        if training.profiling.counts:
            training.profiling.count(self._trial, batch)
        if context.experimental.moves_batches:
            batch = context.to_device(batch)
        if plain:
            returned = self._trial.train_batch(batch, epoch, batch_idx)
        else:
            with training.around_batch(context):
                returned = self._trial.train_batch(batch, epoch, batch_idx)
        metrics = training_metrics_of(returned, self._left_out)
        if self._plan.reporting_period is not None:
            self._reports.add(metrics)
        counters.batches = batch_idx + 1
        ended = place.ends_epoch(batch_idx)
        if context.lr_schedulers:
            _schedulers.step_all(
                context.lr_schedulers,
                counters.batches,
                epoch + 1,
                ended,
                training.aggregation_frequency,
            )
        if ended:
            self._callbacks.call("on_training_epoch_end", epoch)

    def _do_what_is_due(self, signals: Signals, coordinator: Coordinator) -> None:
        """Reports, validates and stores, as due after this batch."""
        plan, place, batches = self._plan, self._place, self._counters.batches
        if batches < self._next_due and not signals.due:
            return
        self._next_due = next_due(plan.units().values(), batches, place.epoch_length)
        ended = place.ends_epoch(batches - 1)
        epochs = place.epoch_of(batches - 1) + 1 if ended else 0

        def due(name: str, unit: object) -> bool:
            return is_due(unit, batches, epochs, ended, name in signals.due)

        busy = False
        if due("reporting_period", plan.reporting_period):
            self._reports.report()
            coordinator.done("reporting_period")
            busy = True
        store = due("checkpoint_period", plan.checkpoint_period)
        if due("validation_period", plan.validation_period):
            better = self._validate()
            coordinator.done("validation_period")
            policy = plan.checkpoint_policy
            store = store or policy == "all" or (policy == "best" and better)
            busy = True
        if store:
            self._save()
            coordinator.done("checkpoint_period")
            busy = True
        if busy:
            self._saver.tell()
            self._report_progress()

    def _validate(self) -> bool:
        """Validates, and returns whether this validation is the best so far by the searcher's metric; always True
        without such a metric.
        """
        if self._training.reducers.reducers and not self._reports.is_empty:
            # A reducer may serve training and validation: its training values are reported first.
            self._reports.report()
        metrics = self._validation.run(self._plan.test_mode)
        name = self._plan.metric
        if name is None:
            return True
        if name not in metrics and not self._plan.needs_metric:
            # The report of the validation has logged a warning.
            return True
        if name not in metrics:
            names = ", ".join(sorted(metrics)) or "none"
            raise ValueError(
                f"the validation has no metric {name!r}, the searcher's metric (there are: "
                f"{names}): return it, or change searcher.metric"
            )
        return self._is_best(metrics[name])

    def _is_best(self, value: object) -> bool:
        best, counters = self._counters.best, self._counters
        if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
            return False
        if best is not None and not (
            value < best if self._plan.smaller_is_better else value > best
        ):
            return False
        counters.best = value
        return True

    def _save(self) -> None:
        self._counters.seconds = time.monotonic() - self._began_s
        self._saver.save(self._parts)

    def _stop(self, signals: Signals) -> None:
        """Ends before the plan is complete. After a preemption, unreported values are left to the later run,
        through the checkpoint.
        """
        if not signals.preempted and not self._reports.is_empty:
            self._reports.report()
        if self._counters.stored_at != self._counters.batches:
            self._save()
        self._report_progress()

    def _finish(self) -> None:
        """Ends as planned, after the last report, validation and checkpoint."""
        counters = self._counters
        if not self._reports.is_empty:
            self._reports.report()
        if counters.validated_at != counters.batches:
            self._validate()
        if counters.stored_at != counters.batches:
            self._save()
        self._report_progress(done=True)

    def _report_progress(self, done: bool = False) -> None:
        length, counters = self._plan.max_length, self._counters
        if isinstance(length, Second):
            part = (time.monotonic() - self._began_s) / length.value
        else:
            part = counters.batches / batches_of(length, self._place.epoch_length)
        self._core.train.report_progress(1.0 if done else min(1.0, part))
