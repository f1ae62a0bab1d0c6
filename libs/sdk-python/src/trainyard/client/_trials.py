"""Trials, with their fields as of the request, and their metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, ClassVar

from ._api import Api, number_of, segment
from ._metric_stream import MetricPoint, all_points, point_of
from ._shown import text_of
from ._task import Task


class Trial(Task):
    """A trial. Its fields have the values of the time of the request:

    ``id`` (such as ``"12.3"``), ``experiment``, ``number``, ``state`` (ACTIVE, PAUSED, STOPPING_COMPLETED,
    STOPPING_CANCELED, STOPPING_KILLED, COMPLETED, CANCELED or ERROR), ``reason``, ``hyperparameters``, ``seed``,
    ``restarts``, ``runs`` (the API's objects), ``steps_completed`` (training steps), ``latest_validation`` and
    ``best_validation`` (metrics by name), ``best_value`` (of the searcher's metric; None for none),
    ``latest_checkpoint`` (UUID; empty for none), ``progress`` (0 to 1), ``elapsed_s``, ``ran_s`` and ``left_s``
    (seconds since the creation, in which a run trained, and about until the end; None if unknown), ``origin`` (of the
    hyperparameters), ``source_trial`` (whose checkpoint it started from; empty for none), ``created_at_ms``,
    ``ended_at_ms`` and ``estimated_end_at_ms`` (milliseconds since 1970; None if unknown), ``metric_warning`` (about a
    missing value of the searcher's metric; empty for none) and ``last_log_lines`` (of a trial in ERROR).
    """

    _shown: ClassVar = (
        "id",
        "state",
        "progress",
        "elapsed_s",
        "left_s",
        "hyperparameters",
        "steps_completed",
        "best_value",
    )
    _shown_alone: ClassVar = ("metric_warning",)

    def __init__(self, api: Api, message: Mapping[str, Any]) -> None:
        super().__init__(api, message)
        self.experiment = text_of(message, "experiment")
        self.number = int(message.get("number") or 0)
        self.state = text_of(message, "state")
        self.reason = text_of(message, "reason")
        self.hyperparameters: dict[str, Any] = dict(message.get("hyperparameters") or {})
        self.seed = int(message.get("seed") or 0)
        self.restarts = int(message.get("restarts") or 0)
        self.runs: list[dict[str, Any]] = list(message.get("runs") or [])
        self.steps_completed = number_of(message.get("stepsCompleted") or 0)
        self.latest_validation = _numbers(message, "latestValidation")
        self.best_validation = _numbers(message, "bestValidation")
        best = message.get("bestValue")
        self.best_value = None if best is None else number_of(best)
        self.latest_checkpoint = text_of(message, "latestCheckpoint")
        self.origin = text_of(message, "origin")
        self.source_trial = text_of(message, "sourceTrial")
        self.last_log_lines: list[str] = list(message.get("lastLogLines") or [])

    @property
    def hparams(self) -> dict[str, Any]:
        """The hyperparameters, by Determined's name."""
        return self.hyperparameters

    def reload(self) -> Trial:
        """Returns the trial with its current fields."""
        return Trial(self._api, self._api.get(self._path))

    def metrics(self, group: str = "", superseded: bool = False) -> list[MetricPoint]:
        """Returns all stored points: those of one ``group``, such as ``"training"`` or
        ``"validation"``, or of all. With ``superseded``, also points whose steps a later run repeated.
        """
        query = [("group", group), ("superseded", "true" if superseded else "")]
        return [point_of(item) for item in self._api.pages(f"{self._path}/metrics", query)]

    def metrics_frame(self, group: str = "", superseded: bool = False) -> Any:
        """Returns ``metrics`` as a pandas DataFrame with one row for each point: the columns ``trial``, ``run``,
        ``group``, ``steps_completed`` and ``reported_at_ms`` (milliseconds since 1970), and one for each metric
        that is a number. A metric with the name of one of these columns is left out. Raises ImportError without
        pandas.
        """
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            raise ImportError(
                "metrics_frame needs pandas: pip install pandas, or use metrics()"
            ) from error
        fixed = ("trial", "run", "group", "steps_completed", "reported_at_ms")
        rows = [
            {**point.metrics, **{name: getattr(point, name) for name in fixed}}
            for point in self.metrics(group, superseded)
        ]
        names = dict.fromkeys(name for row in rows for name in row if name not in fixed)
        return pandas.DataFrame(rows, columns=[*fixed, *names])

    def iter_metrics(self, group: str = "") -> Iterator[MetricPoint]:
        """Yields all stored points, and then new ones as they are stored, until the trial has ended; each point
        once. For an ended trial these are the points of ``metrics``. A broken connection is reopened;
        PlatformAwayError is raised if that fails for ``patience_s`` seconds.
        """
        return map(point_of, all_points(self._api, self.id, group, self._api.patience_s))

    def metric_names(self) -> list[dict[str, Any]]:
        """Returns the groups and names of the trial's metrics, as the API's objects."""
        return list(self._api.pages(f"{self._path}/metric-names"))

    def kill(self, reason: str = "") -> None:
        """Ends the trial at once. Does nothing if it has ended."""
        self._api.call("POST", f"{self._path}/kill", {"reason": reason})

    def restart(self) -> None:
        """Restarts a trial that failed or was canceled, also after the experiment has ended."""
        self._api.call("POST", f"{self._path}/restart", {})

    @property
    def _path(self) -> str:
        return f"/api/v1/trials/{segment(self.id)}"


def _numbers(message: Mapping[str, Any], name: str) -> dict[str, float]:
    return {key: number_of(value) for key, value in (message.get(name) or {}).items()}
