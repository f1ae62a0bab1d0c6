"""Validation: one pass over the validation data."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any

import torch

from .._train import TrainContext
from . import _models, _seeds
from ._callback import Callbacks
from ._context import PyTorchTrialContext
from ._progress import Counters
from ._report_line import print_report
from ._reports import times_of
from ._source import check_loader, validation_of
from ._training import Training
from ._trial import PyTorchTrial, overrides
from .metrics import join_metrics, metrics_of, reduce_validation_metrics


class Validation:
    """Evaluates the models. The training does not depend on it: random states and the modes of modules are
    restored afterwards.
    """

    def __init__(
        self,
        trial: PyTorchTrial,
        context: PyTorchTrialContext,
        training: Training,
        train: TrainContext,
        callbacks: Callbacks,
        counters: Counters,
    ) -> None:
        self._trial = trial
        self._context = context
        self._training = training
        self._train = train
        self._callbacks = callbacks
        self._counters = counters
        self._whole = overrides(trial, "evaluate_full_dataset")
        self._takes_index = not self._whole and _takes_two(trial.evaluate_batch)
        described = trial.build_validation_data_loader()
        check_loader(described, context, "build_validation_data_loader")
        if self._whole and callable(getattr(described, "get_data_loader", None)):
            seed = context.get_trial_seed()
            self._loader = described.get_data_loader(
                repeat=False, skip=0, num_replicas=1, rank=0, seed=seed
            )
        else:
            self._loader = validation_of(described, context)

    def run(self, one_batch: bool = False) -> dict[str, Any]:
        """Validates and reports. Returns the metrics, the same in all processes. With ``one_batch`` it stops after
        the first batch.
        """
        training, counters = self._training, self._counters
        with _seeds.preserved():
            self._callbacks.call("on_validation_start")
            training.reducers.reset_reducers()
            with self._measuring():
                self._callbacks.call("on_validation_epoch_start")
                metrics = self._evaluate_whole() if self._whole else self._evaluate(one_batch)
            reduced = training.reducers.reduce_metrics(for_training=False)
            training.reducers.reset_reducers()
            metrics = join_metrics(metrics, reduced, self._method)
        counters.validated_at = counters.batches
        times = times_of(training.place, counters.batches)
        self._train.report_validation_metrics(counters.batches, {**times, **metrics})
        print_report(self._context.distributed.rank, "validation", times, metrics)
        self._callbacks.call("on_validation_end", dict(metrics))
        return metrics

    @property
    def _method(self) -> str:
        return "evaluate_full_dataset" if self._whole else "evaluate_batch"

    @contextlib.contextmanager
    def _measuring(self) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            stack.enter_context(_models.evaluating(self._context.models))
            stack.enter_context(torch.no_grad())
            if self._context.experimental.amp:
                stack.enter_context(self._context.autocast())
            yield

    def _evaluate(self, one_batch: bool) -> dict[str, Any]:
        each: list[dict[str, Any]] = []
        records: list[int] = []
        trial, context = self._trial, self._context
        steps_end = self._callbacks.listening("on_validation_step_end")
        for n, batch in enumerate(self._loader):
            if context.experimental.moves_batches:
                batch = context.to_device(batch)
            self._callbacks.call("on_validation_step_start")
            numbered = (batch, n) if self._takes_index else (batch,)
            metrics = metrics_of(trial.evaluate_batch(*numbered), self._method)
            each.append(metrics)
            records.append(trial.get_batch_length(batch))
            self._training.place.validated += 1
            if steps_end:
                self._callbacks.call("on_validation_step_end", metrics)
            if one_batch:
                break
        self._callbacks.call("on_validation_epoch_end", each)
        reducer = trial.evaluation_reducer()
        return dict(reduce_validation_metrics(context.distributed, each, records, reducer))

    def _evaluate_whole(self) -> dict[str, Any]:
        context = self._context
        reduced: Any = None
        if context.distributed.rank == 0:
            reduced = metrics_of(self._trial.evaluate_full_dataset(self._loader), self._method)
            reduced = {
                name: value.item() if isinstance(value, torch.Tensor) else value
                for name, value in reduced.items()
            }
        metrics: dict[str, Any] = context.distributed.broadcast(reduced)
        self._callbacks.call("on_validation_epoch_end", [metrics])
        return metrics


def _takes_two(method: Any) -> bool:
    """Whether ``evaluate_batch`` accepts the batch's number as its second argument."""
    parameters = list(inspect.signature(method).parameters.values())
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(positional) > 1 or any(p.kind is p.VAR_POSITIONAL for p in parameters)
