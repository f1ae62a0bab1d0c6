"""Checkpoints, with their fields as of the request, and the choice of the best one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from .._files import PathLike
from ._api import Api, number_of, segment
from ._errors import NotFoundError
from ._shown import Shown, text_of, time_of


class Checkpoint(Shown):
    """A checkpoint. Its fields have the values of the time of the request:

    ``uuid``, ``experiment``, ``trial``, ``task`` (whose folder is saved; empty for a trial's checkpoint), ``run``,
    ``steps_completed`` (training steps), ``state`` (ACTIVE, COMPLETED, ERROR, DAMAGED, PARTIALLY_DELETED, CONDEMNED
    or DELETED), ``reason``, ``bytes``, ``metadata`` (of the script), ``pins`` (``holder``, ``by``, ``reason``,
    ``pinnedAtMs``), ``declared_at_ms`` and ``completed_at_ms`` (milliseconds since 1970; None before). ``metrics``
    (validated at its step) and ``hyperparameters`` are fetched at the first access for a checkpoint from a list.
    """

    _shown: ClassVar = ("uuid", "trial", "steps_completed", "state", "bytes", "completed_at_ms")

    def __init__(self, api: Api, message: Mapping[str, Any], whole: bool = False) -> None:
        super().__init__(message)
        self._api = api
        self.uuid = str(message["uuid"])
        self.experiment = text_of(message, "experiment")
        self.trial = text_of(message, "trial")
        self.task = text_of(message, "task")
        self.run = int(message.get("run") or 0)
        self.steps_completed = number_of(message.get("stepsCompleted") or 0)
        self.state = text_of(message, "state")
        self.reason = text_of(message, "reason")
        self.bytes = int(message.get("bytes") or 0)
        self.metadata: dict[str, Any] = dict(message.get("metadata") or {})
        self.pins: list[dict[str, Any]] = list(message.get("pins") or [])
        self.declared_at_ms = time_of(message, "declaredAtMs")
        self.completed_at_ms = time_of(message, "completedAtMs")
        self._whole: dict[str, Any] | None = dict(message) if whole else None

    @property
    def metrics(self) -> dict[str, float]:
        """The metrics that were validated at the checkpoint's step; empty if there are none."""
        return {
            name: number_of(value) for name, value in (self._all().get("metrics") or {}).items()
        }

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """The hyperparameters of the checkpoint's trial."""
        return dict(self._all().get("hyperparameters") or {})

    @property
    def resources(self) -> dict[str, int]:
        """The sizes of the files in bytes, by path."""
        return {str(file["path"]): int(file.get("bytes") or 0) for file in self.files()}

    def files(self) -> list[dict[str, Any]]:
        """Returns the files with ``path``, ``bytes`` and ``sha256`` (in hex). The list is empty before the
        checkpoint is complete.
        """
        return list(self._all().get("manifest") or [])

    def reload(self) -> Checkpoint:
        """Returns the checkpoint with its current fields."""
        return get_checkpoint(self._api, self.uuid)

    def download(self, path: PathLike | None = None, globs: Sequence[str] = ()) -> Path:
        """Writes the files into a new or empty folder, by default ``./UUID``, and returns it. With ``globs``, such
        as ``"**/*.pt"``, only the files that match one of them. The folder is created only after every file was
        compared with its recorded SHA-256.

        Raises FileExistsError for a folder with files, DownloadError for a file that differs, and ApiError for a
        checkpoint that is not complete.
        """
        # A local import: most scripts download nothing.
        from ._download import download_files

        return download_files(self._api, self.uuid, Path(path or self.uuid), globs)

    def pin(self, reason: str = "") -> None:
        """Keeps the checkpoint until ``unpin``, whatever the policy of its experiment says."""
        self._api.call("POST", f"{self._path}/pin", {"reason": reason})

    def unpin(self, holder: str = "") -> None:
        """Removes the pin of a person, by default of the caller."""
        self._api.call("POST", f"{self._path}/unpin", {"holder": holder})

    def delete(self, reason: str = "") -> float:
        """Deletes the checkpoint after a grace period. Returns the time, in milliseconds since 1970, until which
        ``undelete`` restores it. Raises ApiError for a checkpoint that is pinned or in use.
        """
        answer = self._api.call("POST", f"{self._path}/delete", {"reason": reason})
        return number_of(answer.get("graceEndMs") or 0)

    def remove_files(self, globs: Sequence[str], reason: str = "") -> None:
        """Deletes the files that match one of the patterns, at once. Raises ValueError without a pattern."""
        if not globs:
            raise ValueError("globs needs a pattern; delete() deletes the whole checkpoint")
        body = {"reason": reason, "globs": list(globs)}
        self._api.call("POST", f"{self._path}/delete", body)

    def undelete(self, reason: str = "") -> None:
        """Restores a deleted checkpoint within its grace period, and pins it."""
        self._api.call("POST", f"{self._path}/undelete", {"reason": reason})

    def explain(self) -> dict[str, Any]:
        """Returns the reasons that keep or condemn a complete checkpoint: ``keptBy`` and ``competitors`` (better
        checkpoints), with the searcher's metric as ``value``.
        """
        return self._api.get(f"{self._path}/retention")

    def _all(self) -> dict[str, Any]:
        if self._whole is None:
            self._whole = self._api.get(self._path)
        return self._whole

    @property
    def _path(self) -> str:
        return f"/api/v1/checkpoints/{segment(self.uuid)}"


def get_checkpoint(api: Api, uuid: str) -> Checkpoint:
    """Returns the checkpoint with this UUID. See ``Client.get_checkpoint``."""
    return Checkpoint(api, api.get(f"/api/v1/checkpoints/{segment(uuid)}"), whole=True)


def best_checkpoint(
    api: Api, task: str, sort_by: str | None, smaller_is_better: bool | None
) -> Checkpoint:
    """Returns the checkpoint of ``Task.top_checkpoint``. ``task`` is an experiment or a trial."""
    if (sort_by is None) != (smaller_is_better is None):
        raise ValueError("give sort_by and smaller_is_better together, or none of them")
    whole = f"/api/v1/experiments/{segment(task.partition('.')[0])}"
    if sort_by is None:
        experiment = api.get(whole)
        metric = text_of(experiment, "metric")
        smaller = bool(experiment.get("smallerIsBetter"))
        found = [
            (number_of(verdict["value"]), str(verdict["checkpoint"]))
            for verdict in api.pages(f"{whole}/retention")
            if verdict.get("value") is not None
            and verdict.get("state") == "kept"
            and task in (str(verdict.get("trial")), str(verdict.get("trial")).partition(".")[0])
        ]
    else:
        metric, smaller = sort_by, bool(smaller_is_better)
        owner = f"/api/v1/{'trials' if '.' in task else 'experiments'}/{segment(task)}"
        complete = api.pages(f"{owner}/checkpoints", [("filter", "state = COMPLETED")])
        each = [get_checkpoint(api, str(item["uuid"])) for item in complete]
        found = [(one.metrics[metric], one.uuid) for one in each if metric in one.metrics]
    ranked = [pair for pair in found if not math.isnan(pair[0])]
    for _, uuid in sorted(ranked, key=lambda pair: pair[0] if smaller else -pair[0]):
        checkpoint = get_checkpoint(api, uuid)
        if checkpoint.state == "COMPLETED":
            return checkpoint
    kind = "trial" if "." in task else "experiment"
    why = f"{kind} {task} has no complete checkpoint with a value of {metric or 'a metric'}"
    raise NotFoundError(404, "checkpoint_not_found", why)
