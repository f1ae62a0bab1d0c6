"""``ctx.searcher``: the training length, in the form of Determined before 0.38.

There is one operation, with the length from the configuration's section ``searcher``, as in Determined 0.38. A
search stops or pauses a trial through ``ctx.preempt``, and uses the reported validations.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any

from ._distributed import DistributedContext
from ._info import Info
from ._train import TrainContext

_UNITS = ("batches", "epochs", "records")


class Unit(enum.Enum):
    """The unit of a length in the configuration."""

    EPOCHS = "EPOCHS"
    RECORDS = "RECORDS"
    BATCHES = "BATCHES"


class SearcherMode(enum.Enum):
    """Selects the ranks that iterate over operations in distributed training. All modes behave the same."""

    WorkersAskChief = "WORKERS_ASK_CHIEF"
    ChiefOnly = "CHIEF_ONLY"


class SearcherOperation:
    """Trains until ``length``, in the script's unit; the script then calls ``report_completed``."""

    def __init__(self, length: int, train: TrainContext) -> None:
        self._train = train
        self.length = length
        self.completed = False
        """Whether ``report_completed`` was called."""

    def report_progress(self, length: float) -> None:
        """Reports how much of ``length`` is completed, on the chief; does nothing on other ranks."""
        self._train.report_progress(min(1.0, max(0.0, length / self.length)))

    def report_completed(self, searcher_metric: object) -> None:
        """Declares that ``length`` is reached. The search uses the metrics of
        ``ctx.train.report_validation_metrics``, not ``searcher_metric``.
        """
        if self.completed:
            raise RuntimeError(
                "op.report_completed() was called twice: call it once for an operation"
            )
        self.completed = True


class SearcherContext:
    """Yields the one operation of a trial."""

    def __init__(self, info: Info, train: TrainContext, distributed: DistributedContext) -> None:
        self._info = info
        self._train = train
        self._is_chief = distributed.rank == 0

    def operations(
        self, searcher_mode: SearcherMode = SearcherMode.WorkersAskChief, auto_ack: bool = True
    ) -> Iterator[SearcherOperation]:
        """Yields one operation. Raises ValueError if a task's configuration has no length, and RuntimeError on the
        chief when the loop continues before ``report_completed``.
        """
        del searcher_mode, auto_ack
        operation = SearcherOperation(self._length(), self._train)
        yield operation
        if self._is_chief and not operation.completed:
            raise RuntimeError(
                "an operation was not completed: call op.report_completed(metric) on rank 0 once the "
                "training has reached op.length"
            )

    def acknowledge_out_of_ops(self) -> None:
        """Does nothing: it exists for scripts of Determined."""

    def get_configured_units(self) -> Unit | None:
        """The unit of ``searcher.max_length``; None if the length is a plain number or absent."""
        length = self._section().get("max_length")
        unit = next(iter(length), "") if isinstance(length, dict) else ""
        return Unit[unit.upper()] if unit in _UNITS else None

    def _section(self) -> dict[str, Any]:
        section = self._info.config.get("searcher")
        return section if isinstance(section, dict) else {}

    def _length(self) -> int:
        searcher = self._section()
        length: int | dict[str, Any] | None = searcher.get("max_length")
        if isinstance(length, dict):
            length = next(iter(length.values()), None)
        length = length or searcher.get("max_time")
        if isinstance(length, int) and length > 0:
            return length
        if self._info.local:
            return 1
        raise ValueError(
            "searcher.operations() needs a length: give searcher.max_length in the configuration, or "
            "train for a length of the script's own and report with ctx.train"
        )
