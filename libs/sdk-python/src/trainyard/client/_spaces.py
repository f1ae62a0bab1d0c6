"""Workspaces and their projects, with their fields as of the request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ._api import Api, segment
from ._shown import Listing, Shown


class _Space(Shown):
    """The common part of a workspace and a project."""

    _kind = ""

    def __init__(self, api: Api, message: Mapping[str, Any]) -> None:
        super().__init__(message)
        self._api = api
        self.name = str(message.get("name") or "")
        self.description = str(message.get("description") or "")
        self.notes = str(message.get("notes") or "")
        self.archived = bool(message.get("archived"))
        self.created_by = str(message.get("createdBy") or "")
        self.etag = str(message.get("etag") or "")

    @property
    def _path(self) -> str:
        raise NotImplementedError

    def _change(
        self, description: str | None, notes: str | None, if_unchanged: bool
    ) -> dict[str, Any]:
        texts = {"description": description, "notes": notes}
        body = {key: text for key, text in texts.items() if text is not None}
        answer = self._api.call("PATCH", self._path, body, self.etag if if_unchanged else "")
        return answer[self._kind]

    def _verb(self, verb: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return self._api.call("POST", f"{self._path}/{verb}", body)[self._kind]


class Project(_Space):
    """A project, which has experiments: ``workspace`` (its name), ``name``, ``description``, ``notes``,
    ``archived`` (also true if its workspace is archived), ``created_by`` and ``etag`` (of description and notes).
    """

    _kind = "project"
    _shown: ClassVar = ("workspace", "name", "description", "archived")

    def __init__(self, api: Api, message: Mapping[str, Any]) -> None:
        super().__init__(api, message)
        self.workspace = str(message.get("workspace") or "")

    def describe(
        self, description: str | None = None, notes: str | None = None, if_unchanged: bool = False
    ) -> Project:
        """Changes the given texts. With ``if_unchanged``, raises ApiError ``stale_revision`` if they were changed
        since this object was read.
        """
        return Project(self._api, self._change(description, notes, if_unchanged))

    def archive(self, reason: str = "") -> Project:
        """Archives the project: nothing can be added to it, and its experiments continue."""
        return Project(self._api, self._verb("archive", {"reason": reason}))

    def unarchive(self) -> Project:
        """Makes an archived project usable again."""
        return Project(self._api, self._verb("unarchive", {}))

    @property
    def _path(self) -> str:
        return f"/api/v1/workspaces/{segment(self.workspace)}/projects/{segment(self.name)}"


class Workspace(_Space):
    """A workspace, which has projects and models: ``name``, ``description``, ``notes``, ``archived``,
    ``created_by`` and ``etag`` (of description and notes). Quotas of pools refer to its name.
    """

    _kind = "workspace"
    _shown: ClassVar = ("name", "description", "archived")

    def describe(
        self, description: str | None = None, notes: str | None = None, if_unchanged: bool = False
    ) -> Workspace:
        """Changes the given texts. With ``if_unchanged``, raises ApiError ``stale_revision`` if they were changed
        since this object was read.
        """
        return Workspace(self._api, self._change(description, notes, if_unchanged))

    def archive(self, reason: str = "") -> Workspace:
        """Archives the workspace: nothing can be added to it or its projects, and its experiments continue."""
        return Workspace(self._api, self._verb("archive", {"reason": reason}))

    def unarchive(self) -> Workspace:
        """Makes an archived workspace usable again."""
        return Workspace(self._api, self._verb("unarchive", {}))

    def list_projects(
        self, archived: bool = False, filter: str = "", order_by: str = ""
    ) -> Listing[Project]:
        """Returns the workspace's projects that match ``filter``, ``default`` first or in the order of a field;
        archived ones only on request.
        """
        query = [("filter", filter), ("order_by", order_by)]
        query += [("archived", "true")] if archived else []
        items = self._api.pages(f"{self._path}/projects", query)
        return Listing(Project(self._api, item) for item in items)

    def get_project(self, name: str) -> Project:
        """Returns the project with this name."""
        return Project(self._api, self._api.get(f"{self._path}/projects/{segment(name)}"))

    def create_project(self, name: str, description: str = "", notes: str = "") -> Project:
        """Creates a project. Raises ApiError ``project_exists`` if the name exists."""
        body = {"name": name, "description": description, "notes": notes}
        answer = self._api.call("POST", f"{self._path}/projects", body)
        return Project(self._api, answer["project"])

    @property
    def _path(self) -> str:
        return f"/api/v1/workspaces/{segment(self.name)}"
