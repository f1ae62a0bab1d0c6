"""The metrics of the training, kept unchanged until they are reported.

A tensor is not read from its device before a report, so that the training waits for the device only once per
report.
"""

from __future__ import annotations

from typing import Any

import torch

from .._train import TrainContext
from ._callback import Callbacks
from ._progress import Counters, Place
from ._report_line import print_report
from ._training import Training
from .metrics import average_training_metrics, join_metrics


class Reports:
    """This process's metrics since the latest report."""

    def __init__(
        self, training: Training, train: TrainContext, counters: Counters, callbacks: Callbacks
    ) -> None:
        self._training = training
        self._train = train
        self._counters = counters
        self._callbacks = callbacks
        self._pending: list[dict[str, Any]] = []

    def add(self, metrics: dict[str, Any]) -> None:
        """Adds the metrics of a batch."""
        self._pending.append(metrics)

    @property
    def is_empty(self) -> bool:
        """Whether no metrics are waiting for a report."""
        return not self._pending

    def report(self) -> None:
        """Reports the averages over the batches since the latest report and over all processes.
        Every process calls it.
        """
        training, counters = self._training, self._counters
        distributed = training.core.distributed
        averages = average_training_metrics(distributed, self._pending)
        reducers = training.reducers
        metrics = join_metrics(averages, reducers.reduce_metrics(for_training=True), "train_batch")
        reducers.reset_reducers()
        counters.reported_at = counters.batches
        times = times_of(training.place, counters.batches)
        self._train.report_training_metrics(counters.batches, {**times, **metrics})
        print_report(distributed.rank, "training", times, metrics)
        if self._callbacks.listening("on_training_workload_end"):
            each = [{name: float(value) for name, value in one.items()} for one in self._pending]
            self._callbacks.call("on_training_workload_end", dict(metrics), each)
        self._pending = []

    def state_dict(self) -> dict[str, Any]:
        """Returns the metrics that are not reported yet."""
        known = self._training.reducers.reducers
        return {
            "batches": len(self._pending),
            "pending": _columns_of(self._pending),
            "reducers": [_state_of(reducer) for reducer in known],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state that ``state_dict`` returned."""
        self._pending = [{} for _ in range(state["batches"])]
        for name, (places, values) in state["pending"].items():
            for place, value in zip(places, values):
                self._pending[place][name] = value
        for reducer, kept in zip(self._training.reducers.reducers, state["reducers"]):
            load = getattr(reducer, "load_state_dict", None)
            if callable(load):
                load(kept)
            else:
                vars(reducer).update(kept)


def _columns_of(pending: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns each metric's positions and values. Tensors of one type on one device are joined into one, because many
    small tensors take long to store. After a restart on a GPU, the restored tensors are on the CPU.
    """
    columns: dict[str, Any] = {}
    for place, metrics in enumerate(pending):
        for name, value in metrics.items():
            places, values = columns.setdefault(name, ([], []))
            places.append(place)
            values.append(value)
    return {name: (places, _joined(values)) for name, (places, values) in columns.items()}


def _joined(values: list[Any]) -> Any:
    kinds = {
        (value.dtype, value.device) if isinstance(value, torch.Tensor) else None for value in values
    }
    if len(kinds) == 1 and None not in kinds:
        return torch.stack(values).cpu()
    return [value.cpu() if isinstance(value, torch.Tensor) else value for value in values]


def _state_of(reducer: Any) -> Any:
    """Returns the state of a reducer: its ``state_dict``, otherwise its attributes without functions."""
    if callable(getattr(reducer, "state_dict", None)):
        return reducer.state_dict()
    return {name: value for name, value in vars(reducer).items() if not callable(value)}


def times_of(place: Place, batches: int) -> dict[str, float]:
    """The metrics ``batches`` and ``epochs``, by which a search may measure time."""
    if place.epoch_length is None:
        return {"batches": batches}
    epochs, rest = divmod(batches, place.epoch_length)
    return {"batches": batches, "epochs": epochs + rest / place.epoch_length if rest else epochs}
