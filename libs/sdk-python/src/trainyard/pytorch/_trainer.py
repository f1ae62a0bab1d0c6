"""``pytorch.Trainer``: trains a PyTorchTrial."""

from __future__ import annotations

from .._context import Context
from ._context import PyTorchTrialContext, training_of
from ._loop import Loop
from ._plan import plan_of
from ._progress import Counters
from ._trial import PyTorchTrial, check_trial
from ._units import Batch, TrainUnit


class Trainer:
    """Trains a trial with its context: ``pytorch.Trainer(trial, context).fit(…)``."""

    def __init__(self, trial: PyTorchTrial, context: PyTorchTrialContext) -> None:
        check_trial(trial)
        if not isinstance(context, PyTorchTrialContext):
            raise TypeError(
                f"pytorch.Trainer() takes the context of pytorch.init(), not {context!r}"
            )
        core = training_of(context).core
        if not isinstance(core, Context):
            raise TypeError(
                "pytorch.Trainer() takes the context of pytorch.init(), not that of a trial which was "
                "loaded from a checkpoint"
            )
        self._trial = trial
        self._context = context
        self._core = core
        self._counters = Counters()

    def configure_profiler(
        self,
        enabled: bool,
        sync_timings: bool = True,
        begin_on_batch: int = 0,
        end_after_batch: int | None = None,
    ) -> None:
        """Samples the machine from here on, between two batches of the training, whatever
        ``profiling`` in the configuration says; with ``enabled=False`` no longer. ``sync_timings``
        has no effect: nothing inside of the training loop is timed.

        Raises ValueError for batches that are no counts, or in the wrong order.
        """
        del sync_timings
        bounds = (begin_on_batch, begin_on_batch if end_after_batch is None else end_after_batch)
        if any(isinstance(n, bool) or not isinstance(n, int) for n in bounds) or not (
            0 <= bounds[0] <= bounds[1]
        ):
            raise ValueError(
                f"Trainer.configure_profiler(begin_on_batch={begin_on_batch!r}, "
                f"end_after_batch={end_after_batch!r}) takes counts of batches, in this order"
            )
        profiler = self._core.profiler
        if enabled:
            profiler.on(begin_on_batch=begin_on_batch, end_after_batch=end_after_batch)
        else:
            profiler.off()

    def fit(
        self,
        checkpoint_period: TrainUnit | None = None,
        validation_period: TrainUnit | None = None,
        max_length: TrainUnit | None = None,
        reporting_period: TrainUnit | None = Batch(100),  # noqa: B008 — it never changes
        checkpoint_policy: str | None = None,
        latest_checkpoint: str | None = None,
        step_zero_validation: bool = False,
        test_mode: bool = False,
        profiling_enabled: bool = False,
    ) -> None:
        """Trains until ``max_length``, or until the platform or the trial wants it to stop.

        Periods and lengths are ``pytorch.Batch(n)``, ``Epoch(n)`` or ``Second(n)``; None is never,
        or what the configuration says (``min_checkpoint_period``, ``min_validation_period``,
        ``searcher.max_length``). At its end it validates and stores a checkpoint, whatever the
        periods. ``checkpoint_policy`` says after which other validations one is stored: ``best``,
        those that were better than all before by the searcher's metric (each, where the
        configuration names none), ``all`` or ``none``. None is what ``checkpoint_policy`` of the
        configuration says, else ``best``.

        A run that has a checkpoint continues from that, exactly; one that has none begins with
        ``latest_checkpoint``. ``step_zero_validation`` validates before the first batch.
        ``test_mode`` trains and validates one batch and stores a checkpoint.
        ``profiling_enabled`` samples the machine meanwhile, as ``profiling.enabled`` of the
        configuration does for the whole run.

        Raises TypeError or ValueError in one sentence for what cannot be done.
        """
        context = self._context
        plan = plan_of(
            context.get_experiment_config(),
            checkpoint_period,
            validation_period,
            reporting_period,
            max_length,
            checkpoint_policy,
            step_zero_validation,
            test_mode,
        )._replace(profiling_enabled=bool(profiling_enabled))
        training = training_of(context)
        training.check_optimizers(context)
        training.began = True
        loop = Loop(self._trial, context, training, self._core, plan, self._counters)
        loop.run(latest_checkpoint)
