"""``ctx.train``: the reports of a script on its training."""

from __future__ import annotations

import enum
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from . import _end, _missing_names, _values
from . import _log as log
from ._search_metric import SearchMetricCheck
from ._sender import Sender
from ._spool import ReportTooLargeError, Spool
from .tensorboard import TensorBoardContext
from .tensorboard._context import files_of

TRAINING = "training"
VALIDATION = "validation"
PROGRESS = "progress"
ALERT = "alert"
ALERT_LEVELS = ("debug", "info", "warn", "error")
# The platform records this many alerts of a run.
ALERTS_MAX = 100
ALERT_TITLE_CHARACTERS_MAX = 255
ALERT_TEXT_CHARACTERS_MAX = 16_384
AGGREGATIONS = ("mean", "sum", "min", "max")


class EarlyExitReason(enum.Enum):
    """The reason why a script ends before its training is complete."""

    INVALID_HP = "EXITED_REASON_INVALID_HP"
    """The hyperparameters cannot work. The trial ends without a restart, and the search replaces it."""
    USER_REQUESTED_STOP = "EXITED_REASON_USER_REQUESTED_STOP"
    """The script finished earlier than planned. The trial ends as finished."""


class TrainContext:
    """Reports metrics and progress.

    When a call returns, its report is in the run's spool and will be delivered, even if the network, the platform
    or this process fails. No call waits for the network or raises because of it. The calls raise TypeError or
    ValueError for arguments that cannot be stored, and OSError when the report cannot be written to disk.

    In distributed training the chief reports: on the other ranks the ``report_…`` calls do nothing, so that all
    ranks can run the same code. With ``aggregation`` (``"mean"``, ``"sum"``, ``"min"`` or ``"max"``) every rank
    reports its own values: charts combine the values of one step, and a search uses the chief's.
    ``report_early_exit`` works on any rank.
    """

    def __init__(
        self,
        spool: Spool,
        sender: Sender | None,
        end: _end.EndRecord,
        steps: float,
        rank: int = 0,
        searcher_metric: str | None = None,
        tensorboard: TensorBoardContext | None = None,
    ) -> None:
        self._rank = rank
        self._is_chief = rank == 0
        self._search_metric = SearchMetricCheck(searcher_metric)
        self._warned_of_batches = False
        # Groups with a report that was too large.
        self._refused_groups: set[str] = set()
        self._spool = spool
        self._sender = sender
        self._end = end
        self._latest_steps = steps
        self._reports = 0
        self._alerts = 0
        self._tensorboard = tensorboard
        # A forked child writes to the spool, and its parent's sender delivers the reports.
        self._sender_pid = os.getpid()

    @property
    def latest_steps(self) -> float:
        """The highest reported number of steps, at first that of the run's start."""
        return self._latest_steps

    @property
    def reports(self) -> int:
        """The number of calls that reported metrics or progress, on every rank."""
        return self._reports

    def report_training_metrics(
        self,
        steps_completed: float,
        metrics: Mapping[str, Any],
        batch_metrics: Sequence[Mapping[str, Any]] | None = None,
        *,
        aggregation: str | None = None,
    ) -> None:
        """Reports metrics of the training after ``steps_completed`` steps (batches, or whatever the script
        counts). ``batch_metrics``, which scripts for Determined pass, is not stored; the first use logs a warning.
        """
        if batch_metrics and not self._warned_of_batches:
            self._warned_of_batches = True
            log.warning(
                "batch_metrics of report_training_metrics are not stored: report more often"
            )
        self.report_metrics(TRAINING, steps_completed, metrics, aggregation=aggregation)

    def report_validation_metrics(
        self,
        steps_completed: float,
        metrics: Mapping[str, Any],
        *,
        aggregation: str | None = None,
    ) -> None:
        """Reports metrics of a validation. A search uses the metric that its configuration names; the first
        validation without it logs a warning. If a validation is too large, only its numbers are reported.
        """
        self.report_metrics(VALIDATION, steps_completed, metrics, aggregation=aggregation)

    def report_metrics(
        self,
        group: str,
        steps_completed: float,
        metrics: Mapping[str, Any],
        *,
        aggregation: str | None = None,
    ) -> None:
        """Reports metrics of a group that you name. Charts show values that are numbers (NumPy and PyTorch scalars
        included; NaN and infinities are kept). Strings, booleans, None, lists and dicts are stored and can be read
        back.

        One report may have up to 128 KiB as JSON and 4,096 names. A larger one is not reported, and the first of a
        group logs a warning.
        """
        if aggregation not in (None, *AGGREGATIONS):
            raise ValueError(f"aggregation must be one of {AGGREGATIONS}, not {aggregation!r}")
        self._reports += 1
        if not self._is_chief and aggregation is None:
            # A profiler on another host reads the latest step count.
            self._latest_steps = max(self._latest_steps, _values.steps_of(steps_completed))
            return
        if _values.group_of(group) == PROGRESS:
            raise ValueError("the group 'progress' is reserved for report_progress")
        steps = _values.steps_of(steps_completed)
        plain = _values.metrics_of(metrics)
        of_rank = (
            {} if aggregation is None else {"rank": self._rank, "aggregation": str(aggregation)}
        )
        stored = self._append_what_fits(group, steps, plain, of_rank)
        if stored is None:
            return
        if group == VALIDATION and self._is_chief:
            self._search_metric.check(steps, plain)
        if self._tensorboard is not None and self._is_chief:
            files_of(self._tensorboard).copy_report(group, steps, stored)
        self._latest_steps = max(self._latest_steps, steps)

    def _append_what_fits(
        self, group: str, steps: float, metrics: dict[str, Any], of_rank: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Returns the metrics that were reported, or None. A search waits for a validation, so if it is too large,
        only its numbers or only the searcher's metric is reported.
        """
        try:
            self._append(group, steps, metrics, of_rank)
            return metrics
        except ReportTooLargeError as error:
            too_large = error
        for some in self._search_metric.without_the_rest(metrics) if group == VALIDATION else ():
            try:
                self._append(group, steps, some, of_rank)
            except ReportTooLargeError:
                continue
            left_out = f"a validation is reported without {len(metrics) - len(some):,} of its"
            self._warn_of_size(group, f"{left_out} {len(metrics):,} metrics", too_large)
            return some
        self._warn_of_size(group, f"a report of the group {group!r} is left out", too_large)
        return None

    def _warn_of_size(self, group: str, message: str, error: ReportTooLargeError) -> None:
        """Warns once per group: a report that is too large must not stop the training."""
        if group not in self._refused_groups:
            self._refused_groups.add(group)
            log.warning("%s: %s", message, error)

    def report_progress(self, progress: float) -> None:
        """Reports the completed fraction of the training, from 0 to 1."""
        self._reports += 1
        if not self._is_chief:
            return
        value = _values.to_json(progress, "progress")
        if isinstance(value, (bool, str)) or not isinstance(value, (int, float)):
            if isinstance(value, str) and not isinstance(progress, str):
                raise ValueError(f"progress must be from 0 to 1, not {value}")
            raise TypeError(f"progress must be a number, not {type(progress).__name__}")
        if not math.isfinite(value) or value < 0 or value > 1:
            raise ValueError(f"progress must be from 0 to 1, not {value}")
        self._append(PROGRESS, self._latest_steps, {"progress": value})

    def alert(self, title: str, text: str = "", level: str = "info") -> None:
        """``ctx.alert``."""
        if not isinstance(title, str) or not isinstance(text, str):
            raise TypeError("the title and the text of an alert must be str")
        if level not in ALERT_LEVELS:
            raise ValueError(f"level must be one of {ALERT_LEVELS}, not {level!r}")
        if not title:
            raise ValueError("an alert needs a title")
        if not self._is_chief:
            return
        self._alerts += 1
        if self._alerts > ALERTS_MAX:
            if self._alerts == ALERTS_MAX + 1:
                log.warning("a run raises at most %d alerts: later ones are left out", ALERTS_MAX)
            return
        content = {
            "title": title[:ALERT_TITLE_CHARACTERS_MAX],
            "text": text[:ALERT_TEXT_CHARACTERS_MAX],
            "level": level,
        }
        self._append(ALERT, self._latest_steps, _values.metrics_of(content))

    def set_status(self, status: str) -> None:
        """Does nothing: the script can print its status to the trial's log."""

    def get_tensorboard_path(self) -> Path:
        """Determined's name for ``ctx.tensorboard.path``."""
        return Path() if self._tensorboard is None else self._tensorboard.path

    def upload_tensorboard_files(self, *arguments: object, **more: object) -> None:
        """Does nothing: files in the folder are stored automatically."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise _missing_names.missing_name("ctx.train", name, _missing_names.TRAIN)

    def report_early_exit(self, reason: EarlyExitReason) -> None:
        """Records the reason of an early end; the script must still end by itself."""
        if not isinstance(reason, EarlyExitReason):
            raise TypeError(f"reason must be an EarlyExitReason, not {type(reason).__name__}")
        if reason is EarlyExitReason.INVALID_HP:
            self._end.write(
                _end.INVALID_HYPERPARAMETERS, "the script reported invalid hyperparameters"
            )
        else:
            self._end.write(_end.FINISHED, "the script asked to end early")

    def _append(
        self,
        group: str,
        steps: float,
        metrics: dict[str, Any],
        of_rank: Mapping[str, Any] | None = None,
    ) -> None:
        self._spool.append(group, steps, metrics, of_rank)
        if self._sender is not None and self._sender_pid == os.getpid():
            self._sender.notify()
