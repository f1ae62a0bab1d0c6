"""Users, groups, roles and grants, with their fields as of the request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ._api import Api, segment
from ._shown import Shown, text_of, time_of


class Me(Shown):
    """The caller: ``user`` (its name; empty while the cluster has no users), ``kind`` (person or service),
    ``groups``, ``roles`` (the API's objects, each with ``role``, and ``workspace`` and ``group`` if it holds in one
    or comes by one), ``permissions`` (the names of those that hold everywhere), ``workspaces`` (those that hold in
    single workspaces, by the workspace's name), and ``has_users``: without users every token may do everything.
    """

    _shown: ClassVar = ("user", "kind", "groups", "permissions", "workspaces")

    def __init__(self, message: Mapping[str, Any]) -> None:
        super().__init__(message)
        user = message.get("user") or {}
        self.user = text_of(user, "name")
        self.kind = text_of(user, "kind")
        self.groups: list[str] = list(user.get("groups") or [])
        self.has_users = bool(message.get("hasUsers"))
        self.roles: list[dict[str, str]] = list(message.get("roles") or [])
        self.permissions: list[str] = list(message.get("permissions") or [])
        self.workspaces: dict[str, list[str]] = {
            str(one["workspace"]): list(one.get("permissions") or [])
            for one in message.get("workspaces") or []
        }


class User(Shown):
    """A person or a service account: ``id``, ``name``, ``display_name``, ``email`` (empty for callers who may not see
    it), ``kind``, ``disabled``, ``groups``, ``created_at_ms`` and ``identities`` (the API's objects, each with
    ``issuer`` and ``subject``, which is empty for callers who may not see it). ``password`` is the random one that
    ``create_user`` made; empty otherwise.
    """

    _shown: ClassVar = ("name", "kind", "display_name", "email", "groups", "disabled")

    def __init__(self, api: Api, message: Mapping[str, Any], password: str = "") -> None:
        super().__init__(message)
        self._api = api
        self.password = password
        self.id = text_of(message, "id")
        self.name = text_of(message, "name")
        self.display_name = text_of(message, "displayName")
        self.email = text_of(message, "email")
        self.kind = text_of(message, "kind")
        self.disabled = bool(message.get("disabled"))
        self.groups: list[str] = list(message.get("groups") or [])
        self.created_at_ms = time_of(message, "createdAtMs")
        self.identities: list[dict[str, str]] = list(message.get("identities") or [])

    def describe(
        self, name: str | None = None, display_name: str | None = None, email: str | None = None
    ) -> User:
        """Changes the given texts. Only admins change names."""
        texts = {"name": name, "displayName": display_name, "email": email}
        return self._call("PATCH", "", {key: one for key, one in texts.items() if one is not None})

    def add_identity(self, issuer: str, subject: str) -> User:
        """Lets the person sign in by an identity of a provider, too. Only admins may: people add their own on the page
        Account. Raises ApiError ``identity_taken`` if another user has it.
        """
        return self._call("PATCH", "", {"addIdentity": {"issuer": issuer, "subject": subject}})

    def remove_identity(self, issuer: str, subject: str) -> User:
        """Ends sign-ins by an identity, and the person's sessions. Raises ApiError ``last_sign_in`` if a person would
        remove their own last way to sign in.
        """
        return self._call("PATCH", "", {"removeIdentity": {"issuer": issuer, "subject": subject}})

    def disable(self, reason: str = "") -> User:
        """Ends the user's tokens, sessions and streams at once. Trials continue."""
        return self._call("POST", "/disable", {"reason": reason})

    def enable(self) -> User:
        """Lets a disabled user sign in again."""
        return self._call("POST", "/enable", {})

    def reset_password(self) -> str:
        """Gives the person a new random password, and returns it. The person's sessions end."""
        return str(self._api.call("POST", f"{self._path}/reset", {})["password"])

    def _call(self, method: str, verb: str, body: Mapping[str, Any]) -> User:
        return User(self._api, self._api.call(method, f"{self._path}{verb}", body)["user"])

    @property
    def _path(self) -> str:
        return f"/api/v1/users/{segment(self.id)}"


class Group(Shown):
    """A group of users: ``id``, ``name``, ``members`` (names; the group everyone has all users and lists none) and
    ``from_claim`` (an identity provider sets its members).
    """

    _shown: ClassVar = ("name", "members", "from_claim")

    def __init__(self, api: Api, message: Mapping[str, Any]) -> None:
        super().__init__(message)
        self._api = api
        self.id = text_of(message, "id")
        self.name = text_of(message, "name")
        self.members: list[str] = list(message.get("members") or [])
        self.from_claim = bool(message.get("fromClaim"))

    def rename(self, name: str) -> Group:
        """Changes the group's name. Its members and roles stay."""
        return self._call("PATCH", "", {"name": name})

    def add(self, *users: str) -> Group:
        """Adds users to the group."""
        return self._call("POST", "/members", {"join": list(users)})

    def remove(self, *users: str) -> Group:
        """Removes users from the group."""
        return self._call("POST", "/members", {"leave": list(users)})

    def delete(self) -> None:
        """Deletes the group, with the roles that it has."""
        self._api.call("DELETE", self._path)

    def _call(self, method: str, verb: str, body: Mapping[str, Any]) -> Group:
        return Group(self._api, self._api.call(method, f"{self._path}{verb}", body)["group"])

    @property
    def _path(self) -> str:
        return f"/api/v1/groups/{segment(self.id)}"


class Role(Shown):
    """A role: ``name``, ``description``, ``permissions`` (their names) and ``built_in``."""

    _shown: ClassVar = ("name", "description", "permissions", "built_in")

    def __init__(self, api: Api, message: Mapping[str, Any]) -> None:
        super().__init__(message)
        self._api = api
        self.name = text_of(message, "name")
        self.description = text_of(message, "description")
        self.permissions: list[str] = list(message.get("permissions") or [])
        self.built_in = bool(message.get("builtIn"))

    def delete(self) -> None:
        """Deletes a role that is not built in, and takes it from all who have it."""
        self._api.call("DELETE", f"/api/v1/roles/{segment(self.name)}")


class Grant(Shown):
    """A role that a user or a group has: ``id``, ``role``, ``user`` or ``group``, and ``workspace`` (empty for
    everywhere).
    """

    _shown: ClassVar = ("role", "user", "group", "workspace")

    def __init__(self, api: Api, message: Mapping[str, Any]) -> None:
        super().__init__(message)
        self._api = api
        self.id = text_of(message, "id")
        self.role = text_of(message, "role")
        self.user = text_of(message, "user")
        self.group = text_of(message, "group")
        self.workspace = text_of(message, "workspace")

    def take(self) -> None:
        """Takes the role from the user or the group."""
        self._api.call("DELETE", f"/api/v1/grants/{segment(self.id)}")
