"""Experiments, with their fields as of the request, and the verbs that change them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from ._api import Api, number_of, segment
from ._cluster import JobExplanation, explain_job
from ._create import overrides_of, warnings_of
from ._errors import ApiError
from ._shown import Listing
from ._submission import download_experiment
from ._task import Task
from ._trials import Trial


class ExperimentAction(NamedTuple):
    """The result for one of several experiments. ``outcome`` is changed, unchanged (the state was set already) or
    refused, with the refusal's ``code`` and ``detail`` (otherwise empty).
    """

    experiment: str
    outcome: str
    code: str
    detail: str

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> ExperimentAction:
        return cls(*(str(message.get(name) or "") for name in cls._fields))


class KeptCheckpoint(NamedTuple):
    """A checkpoint that is kept when its experiment is deleted, and the reason."""

    checkpoint: str
    trial: str
    why: str


class DeletionPreview(NamedTuple):
    """The preview of a deletion: the number of ``checkpoints``, and those that are kept (at most 1,000)."""

    checkpoints: int
    kept: list[KeptCheckpoint]


_ENDED = ("COMPLETED", "CANCELED", "ERROR")


class Experiment(Task):
    """An experiment. Its fields have the values of the time of the request:

    ``id``, ``name``, ``description``, ``notes``, ``labels``, ``state`` (ACTIVE, PAUSED, STOPPING_CANCELED,
    STOPPING_KILLED, COMPLETED, CANCELED or ERROR), ``reason``, ``owner``, ``workspace``, ``project``, ``seed``,
    ``config`` (with every default), ``trials`` (their number), ``values`` (the hyperparameters and metrics
    requested from ``list_experiments``), ``progress`` (0 to 1), ``elapsed_s``, ``ran_s`` and ``left_s`` (seconds since
    the creation, in which a run trained, and about until the end; None if unknown), ``created_at_ms``, ``ended_at_ms``
    and ``estimated_end_at_ms`` (milliseconds since 1970; None if unknown), ``metric_warning`` (about completed trials
    without a value of the metric; empty for none), ``metric`` (of the search), ``best_trial`` (empty for none),
    ``best_value`` (None for none), ``archived``, ``parent`` (the experiment that it was forked from; empty for none)
    and ``etag`` (of name, description, notes and labels). ``warnings`` are those of the submission that returned this
    object.
    """

    _shown: ClassVar = (
        "id",
        "name",
        "state",
        "progress",
        "elapsed_s",
        "left_s",
        "trials",
        "metric",
        "best_value",
        "best_trial",
    )
    _shown_alone: ClassVar = ("metric_warning",)

    def __init__(self, api: Api, message: Mapping[str, Any], warnings: Sequence[str] = ()) -> None:
        super().__init__(api, message)
        self.warnings = list(warnings)
        self.name = str(message.get("name") or "")
        self.description = str(message.get("description") or "")
        self.notes = str(message.get("notes") or "")
        self.labels: list[str] = list(message.get("labels") or [])
        self.state = str(message.get("state") or "")
        self.reason = str(message.get("reason") or "")
        self.owner = str(message.get("owner") or "")
        self.workspace = str(message.get("workspace") or "")
        self.project = str(message.get("project") or "")
        self.seed = int(message.get("seed") or 0)
        config = message.get("config")
        self._config: dict[str, Any] | None = None if config is None else dict(config)
        self.values: dict[str, Any] = dict(message.get("values") or {})
        self.trials = int(message.get("trials") or 0)
        self.metric = str(message.get("metric") or "")
        self.best_trial = str(message.get("bestTrial") or "")
        best = message.get("bestValue")
        self.best_value = None if best is None else number_of(best)
        self.archived = bool(message.get("archived"))
        self.parent = str(message.get("parent") or "")
        self.etag = str(message.get("etag") or "")

    @property
    def config(self) -> dict[str, Any]:
        """The configuration with every default. For an experiment from a list, the first access fetches it."""
        if self._config is None:
            self._config = dict(self._api.get(self._path).get("config") or {})
        return self._config

    def reload(self) -> Experiment:
        """Returns the experiment with its current fields."""
        return Experiment(self._api, self._api.get(self._path))

    def list_trials(self, filter: str = "", order_by: str = "") -> Listing[Trial]:
        """Returns the experiment's trials, by default in the order of their numbers: those that match ``filter``,
        such as ``"state = COMPLETED and hparams.lr < 0.1"``. ``order_by`` is a field and asc or desc:
        ``"best_value"``; trials without a value come last. Raises ApiError ``invalid_filter`` when the list is
        read.
        """
        query = [("filter", filter), ("order_by", order_by)]
        items = self._api.pages(f"{self._path}/trials", query)
        return Listing(Trial(self._api, item) for item in items)

    def explain(self) -> JobExplanation:
        """Returns why the experiment's runs wait, and what would let them start. Raises NotFoundError if it has no
        run that waits or has a place.
        """
        return explain_job(self._api, self.id)

    def wait(self, timeout_s: float | None = None, interval_s: float = 1.0) -> Experiment:
        """Waits until the experiment has ended, and returns it with its final fields: ``state`` is COMPLETED,
        CANCELED or ERROR.

        The state is polled every ``interval_s`` seconds. Raises TimeoutError if the experiment has not ended after
        ``timeout_s`` seconds (None: no limit).
        """
        end_s = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            now = self.reload()
            if now.state in _ENDED:
                return now
            if end_s is not None and time.monotonic() + interval_s > end_s:
                raise TimeoutError(f"experiment {self.id} is {now.state} after {timeout_s} s")
            time.sleep(interval_s)

    def describe(
        self,
        name: str | None = None,
        description: str | None = None,
        notes: str | None = None,
        add_labels: Sequence[str] = (),
        remove_labels: Sequence[str] = (),
        if_unchanged: bool = False,
    ) -> Experiment:
        """Changes the given texts and labels, also after the experiment has ended. Returns the changed experiment.

        With ``if_unchanged``, raises ApiError ``stale_revision`` (status 412) and changes nothing if they were
        changed since this object was read.
        """
        texts = {"name": name, "description": description, "notes": notes}
        body: dict[str, Any] = {key: text for key, text in texts.items() if text is not None}
        body.update(addLabels=list(add_labels), removeLabels=list(remove_labels))
        return self._update(body, self.etag if if_unchanged else "")

    def set_queue(
        self,
        priority: int | None = None,
        weight: float | None = None,
        max_slots: int | None = None,
    ) -> Experiment:
        """Changes the given values: ``priority`` (1 to 99, lower is placed first), ``weight`` (with fair share),
        ``max_slots`` (0 for no limit). Raises ApiError if the experiment has no runs.
        """
        numbers = {"priority": priority, "weight": weight, "maxSlots": max_slots}
        return self._update({key: number for key, number in numbers.items() if number is not None})

    def set_gc_policy(
        self,
        save_experiment_best: int,
        save_trial_best: int,
        save_trial_latest: int,
        reason: str = "",
    ) -> Experiment:
        """Changes how many checkpoints are kept, also after the experiment has ended."""
        policy = {
            "saveExperimentBest": save_experiment_best,
            "saveTrialBest": save_trial_best,
            "saveTrialLatest": save_trial_latest,
        }
        return self._update({"gcPolicy": policy, "reason": reason})

    def pause(self) -> Experiment:
        """Stops the experiment's trials gracefully; ``activate`` continues them."""
        return self._verb("pause")

    def activate(self) -> Experiment:
        """Runs the experiment, after a pause or when it was created paused."""
        return self._verb("activate")

    def cancel(self) -> Experiment:
        """Ends the experiment, its trials gracefully. Does nothing if it has ended."""
        return self._verb("cancel")

    def kill(self) -> Experiment:
        """Ends the experiment, its trials at once. Does nothing if it has ended."""
        return self._verb("kill")

    def archive(self, reason: str = "") -> Experiment:
        """Hides the experiment in lists. Raises ApiError ``experiment_not_ended`` while it has not ended."""
        return self._verb("archive", {"reason": reason})

    def unarchive(self) -> Experiment:
        """Shows the experiment in lists again."""
        return self._verb("unarchive")

    def continue_(
        self,
        max_trials: int | None = None,
        max_length: int | None = None,
        unit: str = "",
    ) -> Experiment:
        """Continues the experiment after its end. Trials that failed or were canceled restart from their latest
        checkpoints, and new ones follow up to ``max_trials``.

        A single search trains its trial until ``max_length``, counted from its start in ``unit`` (batches, records
        or epochs; the configuration's unit if empty). Raises ApiError ``continue_unsupported`` for a search that
        cannot continue, and ``nothing_to_continue`` if every trial completed.
        """
        limits = {"maxTrials": max_trials, "maxLength": max_length}
        body: dict[str, Any] = {key: number for key, number in limits.items() if number is not None}
        return self._verb("continue", {**body, "lengthUnit": unit})

    def delete(self, reason: str = "") -> float:
        """Hides an ended experiment, and deletes it after a grace period. Returns the time, in milliseconds since
        1970, until which ``client.undelete_experiment`` can restore it.
        """
        answer = self._api.call("POST", f"{self._path}/delete", {"reason": reason})
        return number_of(answer.get("graceEndMs") or 0)

    def preview_deletion(self) -> DeletionPreview:
        """Returns the checkpoints that ``delete`` would remove and keep, without changing anything."""
        answer = self._api.call("POST", f"{self._path}/delete", {"dryRun": True})
        kept = [
            KeptCheckpoint(*(str(item.get(name) or "") for name in KeptCheckpoint._fields))
            for item in answer.get("kept") or []
        ]
        return DeletionPreview(int(answer.get("checkpoints") or 0), kept)

    def restart_trial(self, number: int) -> None:
        """Restarts one trial that failed or was canceled, also after the experiment has ended."""
        self._api.call("POST", f"{self._trial(number)}/restart", {})

    def kill_trial(self, number: int, reason: str = "") -> None:
        """Ends one trial at once. Does nothing if it has ended."""
        self._api.call("POST", f"{self._trial(number)}/kill", {"reason": reason})

    def fork(
        self,
        overrides: Mapping[str, Any] | None = None,
        checkpoint: str = "",
        config: str = "",
        paused: bool = False,
    ) -> Experiment:
        """Creates an experiment with the code, configuration and seed of this one. ``overrides`` replaces keys of
        the configuration: ``{"hyperparameters.lr": 0.1}``. ``config`` is a YAML text that replaces the
        configuration. ``checkpoint``, the UUID of a complete checkpoint of this experiment, is where the trials
        start. Raises ApiError, and creates nothing, for an invalid configuration.
        """
        body = {
            "config": config,
            "overrides": overrides_of(overrides or {}),
            "checkpoint": checkpoint,
            "paused": paused,
        }
        answer = self._api.call("POST", f"{self._path}/fork", body)
        return Experiment(self._api, answer["experiment"], warnings_of(answer))

    def move(self, workspace: str = "", project: str = "") -> Experiment:
        """Moves the experiment into a project, by default ``default`` of ``default``. Later runs count for the
        quota of the project's workspace. Raises ApiError if the project is missing or archived.
        """
        body = {"experiments": [self.id], "workspace": workspace, "project": project}
        answer = self._api.call("POST", "/api/v1/experiments:move", body)
        for action in map(ExperimentAction.of, answer.get("items") or []):
            if action.outcome == "refused":
                raise ApiError(409, action.code, action.detail)
        return self.reload()

    def submission(self) -> dict[str, Any]:
        """Returns the data that makes the experiment reproducible: ``config`` (a YAML text that makes the same
        trials, secrets masked), ``masked`` (their paths), ``seed``, ``codeDigest``, and ``record``: the text as it
        was submitted (``configText``), what was ``defaulted``, ``platformVersion``, ``client`` and ``repository``
        (commit and diff). ``environments`` has the versions of Python and the packages of its runs, each set once.
        Absent keys were not recorded.
        """
        return self._api.get(f"{self._path}/submission")

    def download(self, folder: str | Path = "") -> Path:
        """Writes the experiment as a folder, by default ``experiment-<id>``, which ``yard experiment create`` can
        submit again. The folder has experiment.yaml, submitted.yaml, submission.json, requirements.txt,
        changes.diff and code. Raises FileExistsError for a folder with files, and DownloadError for an interrupted
        download, which leaves no folder.
        """
        return download_experiment(self._api, self._path, Path(folder or f"experiment-{self.id}"))

    def files(self) -> list[dict[str, Any]]:
        """Returns the files of the experiment's code, ordered by ``path``: with ``bytes`` and ``sha256`` (in hex),
        or with the ``link`` of a link. The list is empty without code.
        """
        return list(self._api.pages(f"{self._path}/files"))

    def file_text(self, path: str) -> str:
        """Returns a file of the experiment's code as text, at most its first MiB. Raises NotFoundError for an
        unknown path, and ValueError for a file that is not text.
        """
        answer = self._api.get(f"{self._path}/files/text", [("path", path)])
        if answer.get("binary"):
            raise ValueError(f"{path} is not text: use download()")
        return str(answer.get("text") or "")

    def search_picture(self, version: int = 0) -> dict[str, Any]:
        """Returns the state of the search at a version, by default the latest: ``brackets`` with rungs, and all
        ``trials`` with their values and ranks at the rungs, and each decision with its rule and sentence.
        """
        path = f"{self._path}/search/picture"
        picture = self._api.get(path, [("version", str(version))])
        trials = list(picture.get("trials") or [])
        page = picture
        while page.get("nextPageToken"):
            page = self._api.get(path, [("pageToken", str(page["nextPageToken"]))])
            trials += page.get("trials") or []
        return {**picture, "trials": trials, "nextPageToken": ""}

    def diff(self, other: int | str) -> dict[str, Any]:
        """Returns the differences of another experiment from this one: ``config`` (``path`` and, as JSON,
        ``before`` and ``after``), ``configText`` (in unified form), ``files`` (``path``, ``change``, ``text``) and
        ``leftOut``.
        """
        return self._api.get(f"{self._path}/diff/{segment(str(other))}")

    def _update(self, body: Mapping[str, Any], if_match: str = "") -> Experiment:
        answer = self._api.call("PATCH", self._path, body, if_match)
        return Experiment(self._api, answer["experiment"])

    def _verb(self, verb: str, body: Mapping[str, Any] | None = None) -> Experiment:
        answer = self._api.call("POST", f"{self._path}/{verb}", body or {})
        return Experiment(self._api, answer["experiment"])

    def _trial(self, number: int) -> str:
        return f"/api/v1/trials/{segment(f'{self.id}.{number}')}"

    @property
    def _path(self) -> str:
        return f"/api/v1/experiments/{segment(self.id)}"
