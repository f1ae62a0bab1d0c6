"""Models and their versions, with their fields as of the request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from .._files import PathLike
from ._api import Api, number_of, segment
from ._shown import Listing, Shown


class Model(Shown):
    """A model of the registry. Its fields have the values of the time of the request:

    ``name``, ``description``, ``notes``, ``labels``, ``metadata``, ``workspace``, ``archived``,
    ``created_by``, ``latest_number`` (of the newest registration; 0 for none) and ``aliases`` (the number of
    the version by the alias).
    """

    _shown: ClassVar = ("name", "description", "workspace", "latest_number", "aliases")

    def __init__(self, api: Api, message: Mapping[str, Any]) -> None:
        super().__init__(message)
        self._api = api
        self.name = str(message["name"])
        self.description = str(message.get("description") or "")
        self.notes = str(message.get("notes") or "")
        self.labels: list[str] = list(message.get("labels") or [])
        self.metadata: dict[str, Any] = dict(message.get("metadata") or {})
        self.workspace = str(message.get("workspace") or "")
        self.archived = bool(message.get("archived"))
        self.created_by = str(message.get("createdBy") or "")
        self.latest_number = int(message.get("latestNumber") or 0)
        self.aliases: dict[str, int] = dict(message.get("aliases") or {})

    def get_version(self, version: int | str = "latest") -> ModelVersion:
        """Returns the version with a number, semantic version or alias; ``"latest"`` is the highest number. Raises
        NotFoundError if it does not exist.
        """
        path = f"{self._path}/versions/{segment(str(version))}"
        return ModelVersion(self._api, self._api.get(path))

    def list_versions(self, where: Sequence[str] = ()) -> Listing[ModelVersion]:
        """Returns the versions that are not removed, newest first. All conditions must be true: texts like
        ``metrics.loss<0.5``, ``hparams.lr=0.1``, ``metadata.dataset=v2``, ``step>100``, ``label=prod``.
        """
        query = [("where", one) for one in where]
        items = self._api.pages(f"{self._path}/versions", query)
        return Listing(ModelVersion(self._api, item) for item in items)

    def best_versions(
        self, metric: str, where: Sequence[str] = (), order: str = "", limit: int = 1
    ) -> list[ModelVersion]:
        """Returns the ``limit`` (at most 100) best versions by a metric, the best first; of equal ones, the oldest
        first. ``order`` is ``"min"`` or ``"max"``; it is optional for the search's metric. ``where`` is as in
        ``list_versions``. Raises NotFoundError for a metric that no version has.
        """
        query = [("metric", metric), ("order", order), ("limit", str(limit))]
        query += [("where", one) for one in where]
        page = self._api.get(f"{self._path}/versions:best", query)
        return [ModelVersion(self._api, item) for item in page.get("items") or []]

    def move_alias(self, alias: str, version: int | str, reason: str) -> ModelVersion:
        """Moves an alias, such as champion, to a version. The reason is kept in the alias's history."""
        path = f"{self._path}/aliases/{segment(alias)}"
        body = {"version": str(version), "reason": reason}
        return ModelVersion(self._api, self._api.call("PUT", path, body)["version"])

    def move(self, workspace: str) -> Model:
        """Moves the model into a workspace. Raises ApiError if the workspace is missing or archived."""
        answer = self._api.call("POST", f"{self._path}/move", {"workspace": workspace})
        return Model(self._api, answer["model"])

    @property
    def _path(self) -> str:
        return f"/api/v1/models/{segment(self.name)}"


class ModelVersion(Shown):
    """A version of a model. Its fields have the values of the time of the request:

    ``model``, ``number``, ``semantic_version`` (empty for none), ``aliases``, ``description``, ``notes``,
    ``labels``, ``metadata``, ``state`` (REGISTERED or REMOVED); its origin: ``checkpoint`` (UUID), ``experiment``,
    ``trial``, ``run``, ``steps_completed`` (training steps), ``metrics`` (validation metrics at that step),
    ``hyperparameters``, ``data`` (of the configuration), ``code_digest`` (SHA-256, hex; empty for none);
    ``uploaded_by`` (the person who uploaded the folder) and ``task`` (whose folder was saved), both empty for a
    trial's checkpoint.
    """

    _shown: ClassVar = ("model", "number", "semantic_version", "aliases", "trial", "metrics")

    def __init__(self, api: Api, message: Mapping[str, Any]) -> None:
        super().__init__(message)
        self._api = api
        self.model = str(message["model"])
        self.number = int(message["number"])
        self.semantic_version = str(message.get("semanticVersion") or "")
        self.aliases: list[str] = list(message.get("aliases") or [])
        self.description = str(message.get("description") or "")
        self.notes = str(message.get("notes") or "")
        self.labels: list[str] = list(message.get("labels") or [])
        self.metadata: dict[str, Any] = dict(message.get("metadata") or {})
        self.state = str(message.get("state") or "")
        self.checkpoint = str(message["checkpoint"])
        self.experiment = str(message.get("experiment") or "")
        self.trial = str(message.get("trial") or "")
        self.run = int(message.get("run") or 0)
        self.steps_completed = number_of(message.get("stepsCompleted") or 0)
        metrics: Mapping[str, Any] = message.get("metrics") or {}
        self.metrics: dict[str, float] = {name: number_of(one) for name, one in metrics.items()}
        self.hyperparameters: dict[str, Any] = dict(message.get("hyperparameters") or {})
        self.data: dict[str, Any] = dict(message.get("data") or {})
        self.code_digest = str(message.get("codeDigest") or "")
        self.uploaded_by = str(message.get("uploadedBy") or "")
        self.task = str(message.get("task") or "")

    def download(self, folder: PathLike | None = None) -> Path:
        """Writes the version into a new or empty folder, by default ``./MODEL-NUMBER``: ``checkpoint/`` with its
        files, ``code/`` with the code that trained it, if recorded, ``version.json`` and ``checkpoint.json`` with
        the platform's records, and ``README.md``, which explains how to load the model. Returns the folder, which
        is created only after every file was compared with its recorded SHA-256. Raises FileExistsError for a
        folder with files, DownloadError for a file that differs, and OSError if the disk cannot be written.
        """
        # A local import: most scripts download nothing.
        from ._download import download_version

        target = Path(folder) if folder is not None else Path(f"{self.model}-{self.number}")
        return download_version(self._api, self._message, target)

    def export(self, path: PathLike) -> Path:
        """Downloads the version into a named folder, with everything that is needed to load it without the
        platform. See ``download``.
        """
        return self.download(path)
