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
        """Starts sampling the machine, between the given batches of the training, regardless of ``profiling`` in
        the configuration; ``enabled=False`` stops it. ``sync_timings`` has no effect: nothing inside of the
        training loop is timed. Raises ValueError for invalid batch numbers, or a wrong order of them.
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
        """Trains until ``max_length``, or until the platform or the trial requests a stop. Periods and lengths are
        ``pytorch.Batch(n)``, ``Epoch(n)`` or ``Second(n)``; None means the value of the configuration
        (``min_checkpoint_period``, ``min_validation_period``, ``searcher.max_length``), or never. The training's
        end always has a validation and a checkpoint. ``checkpoint_policy`` selects the other validations after
        which a checkpoint is stored: ``best``, ``all`` or ``none``. ``best`` means each validation that is the
        best so far by the searcher's metric, or every validation if the configuration names no metric. None means
        the ``checkpoint_policy`` of the configuration, by default ``best``.

        A run whose trial has a checkpoint continues exactly from it; another run starts from
        ``latest_checkpoint``. ``step_zero_validation`` validates before the first batch. ``test_mode`` trains and
        validates one batch and stores a checkpoint. ``profiling_enabled`` samples the machine during the training,
        as ``profiling.enabled`` of the configuration does for the whole run. Raises TypeError or ValueError for
        invalid arguments.
        """
        context = self._context
        plan = plan_of(
            context.get_experiment_config(),
            context.info.search_needs_metric,
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
