"""``Client``: the calls to one cluster, with the token of a person or of a run."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .._code import Config
from .._files import PathLike
from .._info import in_task
from ._access import find_access
from ._api import PATIENCE_S, Api, segment
from ._create import create, overrides_of, validate, warnings_of
from ._errors import ApiError
from ._event_calls import EventCalls
from ._experiments import Experiment, ExperimentAction
from ._metric_stream import MetricUpdate, follow_metrics
from ._models import Model, ModelVersion
from ._shown import Listing
from ._spaces import Workspace
from ._watch import WatchEvent, watch

# The interval of retries: a checkpoint whose call has just returned may soon be complete.
_COMPLETE_POLL_S = 0.5


class Client(EventCalls):
    """A cluster, by its URL and a token. Without them it is, as for the command line, the first of: TRAINYARD_URL
    and TRAINYARD_TOKEN in the environment, the login ``cluster`` (see ``client.login``) or TRAINYARD_CLUSTER, the
    embedded cluster of TRAINYARD_HOME, the current login, and the embedded cluster of the checkout. The constructor
    makes no request, and raises ValueError if there is no cluster. Use one client per thread.

    Every call raises ``ApiError`` when the platform refuses (``NotFoundError`` for an unknown name), and
    ``PlatformAwayError`` when it does not answer for ``patience_s`` seconds.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        patience_s: float = PATIENCE_S,
        cluster: str = "",
    ) -> None:
        access = find_access(url or "", token or "", cluster, os.environ, Path.cwd())
        super().__init__(Api(access.url, access.token, patience_s))
        self._patience_s = patience_s

    def close(self) -> None:
        """Closes the connection; a later call opens a new one."""
        self._api.close()

    def create_experiment(
        self,
        config: Config,
        model_dir: PathLike | None = None,
        includes: Iterable[PathLike] | None = None,
        *,
        overrides: Mapping[str, Any] | None = None,
        labels: Sequence[str] | None = None,
        workspace: str = "",
        project: str = "",
        paused: bool = False,
        key: str = "",
    ) -> Experiment:
        """Submits an experiment, as ``yard experiment create`` does, and returns it; ``wait()`` waits for its end.

        ``config`` is a mapping, the path of a YAML file, or YAML itself: a ``str`` of several lines, or that
        begins with ``{``. ``model_dir`` is the folder of training code (None for none), without what its
        .trainyardignore and .detignore leave out: at most 50,000 files and 96 MiB packed. ``includes`` are files
        and folders that are added at its top, each under its own name. ``overrides`` replaces keys of the
        configuration: ``{"hyperparameters.lr": 0.1}``; ``labels``, ``workspace`` and ``project`` set those keys.

        A second call with the same ``key``, even in another process, returns the experiment created first. Without
        a key, only the retries inside one call are recognized. The platform's warnings are logged, and are in
        ``warnings`` of the result.

        Raises CodeError for a folder or a file that cannot be submitted, and ApiError for an invalid
        configuration: each of its ``problems`` names a key. After an error no experiment is created.
        """
        places = {"labels": labels, "workspace": workspace or None, "project": project or None}
        keys = {name: value for name, value in places.items() if value is not None}
        if labels is not None:
            keys["labels"] = list(labels)
        changes = overrides_of({**(overrides or {}), **keys})
        answer = create(self._api, config, model_dir, includes or (), changes, paused, key)
        return Experiment(self._api, answer["experiment"], warnings_of(answer))

    def validate(self, config: Config, overrides: Mapping[str, Any] | None = None) -> list[str]:
        """Checks a configuration without creating an experiment, and returns its warnings, each with the path of
        its key. The arguments are those of ``create_experiment``. Raises ApiError for an invalid configuration:
        each of its ``problems`` names a key.
        """
        return validate(self._api, config, overrides or {})

    def get_experiment(self, experiment: int | str) -> Experiment:
        """Returns the experiment with this number."""
        path = f"/api/v1/experiments/{segment(str(experiment))}"
        return Experiment(self._api, self._api.get(path))

    def undelete_experiment(self, experiment: int | str) -> Experiment:
        """Restores a deleted experiment, within the grace period of its deletion."""
        path = f"/api/v1/experiments/{segment(str(experiment))}/undelete"
        return Experiment(self._api, self._api.call("POST", path, {})["experiment"])

    def list_experiments(
        self,
        labels: Sequence[str] = (),
        states: Sequence[str] = (),
        archived: bool = False,
        filter: str = "",
        order_by: str = "",
        values: Sequence[str] = (),
        workspace: str = "",
        project: str = "",
    ) -> Listing[Experiment]:
        """Returns experiments, the newest first. ``labels`` must all be present; ``states``, such as ``"ACTIVE"``,
        lists the allowed states (empty for all); ``workspace`` and ``project`` are empty for any. ``filter`` is an
        expression like ``"hparams.lr < 1e-3 and best_value:*"``. Archived experiments are included only on
        request. ``order_by`` is a field and asc or desc: ``"best_value desc"``. ``values`` names hyperparameters
        and metrics, ``"hparams.lr"`` for example, which each experiment then has in its ``values``. Raises
        ApiError ``invalid_filter`` with a sentence that names the column when the list is read.
        """
        query = [*(("labels", label) for label in labels), *(("states", one) for one in states)]
        query += [("workspace", workspace), ("project", project)]
        query += [("filter", filter), ("order_by", order_by), *(("fields", one) for one in values)]
        if archived:
            query.append(("archived", "true"))
        items = self._api.pages("/api/v1/experiments", query)
        return Listing(Experiment(self._api, item) for item in items)

    def act_on_experiments(
        self,
        experiments: Sequence[int | str],
        verb: str,
        reason: str = "",
        dry_run: bool = False,
    ) -> list[ExperimentAction]:
        """Applies one verb to each of the named experiments (at most 10,000), and returns the result for each;
        with ``dry_run`` only the expected result. ``verb`` is activate, pause, cancel, kill, archive, unarchive,
        continue, delete or undelete. A refusal for one experiment does not affect the others.
        """
        body = {
            "experiments": [str(one) for one in experiments],
            "verb": verb,
            "reason": reason,
            "dryRun": dry_run,
        }
        answer = self._api.call("POST", "/api/v1/experiments:act", body)
        return [ExperimentAction.of(item) for item in answer.get("items") or []]

    def label_experiments(
        self,
        experiments: Sequence[int | str],
        add: Sequence[str] = (),
        remove: Sequence[str] = (),
        dry_run: bool = False,
    ) -> list[ExperimentAction]:
        """Adds labels to and removes labels from each of the named experiments (at most 10,000), and returns the
        result for each; with ``dry_run`` only the expected result.
        """
        body = {
            "experiments": [str(one) for one in experiments],
            "addLabels": list(add),
            "removeLabels": list(remove),
            "dryRun": dry_run,
        }
        answer = self._api.call("POST", "/api/v1/experiments:label", body)
        return [ExperimentAction.of(item) for item in answer.get("items") or []]

    def follow_metrics(
        self, task: int | str, after: str = "", group: str = ""
    ) -> Iterator[MetricUpdate]:
        """Yields the metric points of an experiment (``"12"``) or of one trial (``"12.3"``) as they are stored,
        until it ends. Each point comes once, in the order of storing, for one ``group`` or for all. ``after`` is
        the ``position`` of an earlier update; without it only new points are yielded. Raises ApiError
        ``position_gone`` (status 410) for a position from which points are no longer kept in their order, after
        about an hour. A broken connection is reopened; PlatformAwayError is raised if that fails for
        ``patience_s`` seconds.
        """
        return follow_metrics(self._api, str(task), after, group, self._patience_s)

    def watch(self, topics: Sequence[Mapping[str, Any]], after: str = "") -> Iterator[WatchEvent]:
        """Yields the changes of up to 64 lists and documents, without an end.

        A topic is ``{"kind": "experiments", "filter": "state = ACTIVE", "position": position}``, for example,
        where ``position`` is that of the list's answer. The kinds ``trials`` and ``checkpoints`` need
        ``experiment``, ``projects`` needs ``workspace``, and one document is selected by ``id``. Other kinds are
        ``models``, ``agents``, ``jobs``, ``tasks`` and ``workspaces``. Reports and log lines of trials are topics, too:
        ``{"kind": "points", "experiment": "12", "names": ["loss"]}``, also with ``group``, and ``{"kind":
        "lines", "experiment": "12"}``; ``id`` for one trial, ``position`` of the last that you have (``0`` for
        all).

        Yields ``Change``, ``Points``, ``Lines``, ``Reset`` (read the list again) and ``Bookmark``, whose
        ``cursor`` another call continues after. A broken connection is reopened: a change may then come twice,
        while points and lines come once. Raises ApiError for a topic that the platform refuses, and
        PlatformAwayError if reconnecting fails for ``patience_s`` seconds.
        """
        return watch(self._api, topics, after, self._patience_s)

    def move_experiments(
        self,
        experiments: Sequence[int | str],
        workspace: str = "",
        project: str = "",
        dry_run: bool = False,
    ) -> list[ExperimentAction]:
        """Moves each of the named experiments (at most 10,000) into a project, and returns the result for each.
        The default is the project ``default`` of the workspace ``default``.
        """
        body = {
            "experiments": [str(one) for one in experiments],
            "workspace": workspace,
            "project": project,
            "dryRun": dry_run,
        }
        answer = self._api.call("POST", "/api/v1/experiments:move", body)
        return [ExperimentAction.of(item) for item in answer.get("items") or []]

    def get_workspace(self, name: str) -> Workspace:
        """Returns the workspace with this name; upper and lower case are equal."""
        return Workspace(self._api, self._api.get(f"/api/v1/workspaces/{segment(name)}"))

    def list_workspaces(
        self, archived: bool = False, filter: str = "", order_by: str = ""
    ) -> Listing[Workspace]:
        """Returns the workspaces that match ``filter``, ``default`` first or in the order of a field; archived ones
        only on request.
        """
        query = [("filter", filter), ("order_by", order_by)]
        query += [("archived", "true")] if archived else []
        items = self._api.pages("/api/v1/workspaces", query)
        return Listing(Workspace(self._api, item) for item in items)

    def create_workspace(self, name: str, description: str = "", notes: str = "") -> Workspace:
        """Creates a workspace. Raises ApiError ``workspace_exists`` if the name exists, in upper or lower case."""
        body = {"name": name, "description": description, "notes": notes}
        return Workspace(self._api, self._api.call("POST", "/api/v1/workspaces", body)["workspace"])

    def get_model(self, name: str) -> Model:
        """Returns the model with this name."""
        return Model(self._api, self._api.get(f"/api/v1/models/{segment(name)}"))

    def list_models(
        self, name: str = "", labels: Sequence[str] = (), archived: bool = False
    ) -> Listing[Model]:
        """Returns models, the newest first. ``name`` must be part of the model's name, and ``labels`` must all be
        present; archived models are included only on request.
        """
        query = [("name", name), *(("labels", label) for label in labels)]
        if archived:
            query.append(("archived", "true"))
        items = self._api.pages("/api/v1/models", query)
        return Listing(Model(self._api, item) for item in items)

    def create_model(
        self,
        name: str,
        description: str = "",
        notes: str = "",
        labels: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> Model:
        """Creates a model without versions. Raises ApiError ``model_exists`` if the name exists."""
        body = {"name": name, **_words(description, notes, labels, metadata)}
        return Model(self._api, self._api.call("POST", "/api/v1/models", body)["model"])

    def register_version(
        self,
        model: str,
        checkpoint: str,
        semantic_version: str = "",
        description: str = "",
        notes: str = "",
        labels: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        create_model: bool = False,
        wait_s: float = 60.0,
    ) -> ModelVersion:
        """Registers a checkpoint, by its UUID, as a version of a model. The checkpoint is kept until the version
        is removed. Registering it again returns the existing version. If the checkpoint is incomplete, the call
        waits up to ``wait_s`` seconds, then raises ApiError ``checkpoint_not_complete``. ``create_model`` creates
        the model if it does not exist. A run can register the checkpoints of its own trial with its token.
        """
        body = {
            "checkpoint": checkpoint,
            "semanticVersion": semantic_version,
            "createModel": create_model,
            **_words(description, notes, labels, metadata),
        }
        path = f"/api/v1/models/{segment(model)}/versions"
        end_s = time.monotonic() + wait_s
        while True:
            try:
                return ModelVersion(self._api, self._api.call("POST", path, body)["version"])
            except ApiError as error:
                late = time.monotonic() + _COMPLETE_POLL_S > end_s
                if error.code not in _passing_codes() or late:
                    raise
            time.sleep(_COMPLETE_POLL_S)

    def register_folder(
        self,
        model: str,
        folder: PathLike,
        semantic_version: str = "",
        description: str = "",
        notes: str = "",
        labels: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        create_model: bool = False,
    ) -> ModelVersion:
        """Registers a local folder as a version of a model.

        The files are uploaded to the cluster's storage, as a checkpoint without a trial, which is kept until the
        version is removed. Registering the same files again returns the existing version, and a retry after an
        interruption uploads only the missing parts. The folder may have 5,000 files; links that lead out of it are
        refused.

        Raises ValueError for a folder that cannot be uploaded, UploadError if the upload fails, and OSError for
        files that cannot be read. The call needs a person's token.
        """
        # A local import: most scripts upload nothing.
        from ._folder import upload_folder

        # An invalid model name is refused before anything is sent.
        if create_model:
            self._create_unless_there(model)
        elif self.get_model(model).archived:
            raise ApiError(
                409, "model_archived", f"model {model} is archived: it takes no versions"
            )
        checkpoint = upload_folder(self._api, Path(folder))
        return self.register_version(
            model, checkpoint, semantic_version, description, notes, labels, metadata
        )

    def _create_unless_there(self, model: str) -> None:
        try:
            self.create_model(model)
        except ApiError as error:
            if error.code != "model_exists":
                raise


def _passing_codes() -> tuple[str, ...]:
    """The refusals that may be temporary. Inside a task the platform may not know a checkpoint yet that the script
    has just stored; outside, an unknown checkpoint is a mistake.
    """
    if in_task(os.environ):
        return "checkpoint_not_complete", "checkpoint_not_found"
    return ("checkpoint_not_complete",)


def _words(
    description: str, notes: str, labels: Sequence[str], metadata: Mapping[str, Any] | None
) -> dict[str, Any]:
    return {
        "description": description,
        "notes": notes,
        "labels": list(labels),
        "metadata": dict(metadata or {}),
    }
