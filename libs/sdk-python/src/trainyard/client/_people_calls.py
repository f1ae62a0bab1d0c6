"""The part of ``Client`` about users, groups and roles. Most scripts use none of it, so that the objects are imported
with the first call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._api import segment
from ._cluster_reads import ClusterReads
from ._shown import Listing

if TYPE_CHECKING:
    from ._people import Grant, Group, Me, Role, User


class PeopleCalls(ClusterReads):
    """The calls about people and what they may do. See ``Client``."""

    def whoami(self) -> Me:
        """Returns the user of the token, with roles and permissions."""
        from ._people import Me

        return Me(self._api.get("/api/v1/me"))

    def create_user(
        self,
        name: str,
        password: str = "",
        display_name: str = "",
        email: str = "",
        *,
        admin: bool = False,
        service: bool = False,
    ) -> User:
        """Creates a person or a ``service`` account. Without a ``password`` a person gets a random one, which the
        returned user has. The first person is a cluster admin. Raises ApiError ``user_exists`` for a taken name, and
        ValueError for a password of fewer than 8 characters.
        """
        from ._device_login import sent_password
        from ._people import User

        # The gateway sees only the hash.
        if 0 < len(password) < 8:
            raise ValueError("a password has at least 8 characters")
        body: dict[str, Any] = {"name": name, "displayName": display_name, "email": email}
        body["kind"] = "service" if service else "person"
        body["password"] = sent_password(password) if password else ""
        answer = self._api.call("POST", "/api/v1/users", {**body, "admin": admin})
        return User(self._api, answer["user"], str(answer.get("password") or ""))

    def get_user(self, user: str) -> User:
        """Returns the user with this name or id."""
        from ._people import User

        return User(self._api, self._api.get(f"/api/v1/users/{segment(user)}"))

    def list_users(self, prefix: str = "") -> Listing[User]:
        """Returns the users, or those whose name begins with ``prefix``, by name."""
        from ._people import User

        items = self._api.pages("/api/v1/users", [("prefix", prefix)])
        return Listing(User(self._api, item) for item in items)

    def create_group(self, name: str, members: Sequence[str] = ()) -> Group:
        """Creates a group of users."""
        from ._people import Group

        body = {"name": name, "members": list(members)}
        return Group(self._api, self._api.call("POST", "/api/v1/groups", body)["group"])

    def list_groups(self) -> Listing[Group]:
        """Returns all groups, with their members."""
        from ._people import Group

        items = self._api.get("/api/v1/groups").get("items") or []
        return Listing(Group(self._api, item) for item in items)

    def define_role(self, name: str, permissions: Sequence[str], description: str = "") -> Role:
        """Defines a role from permissions such as ``"experiment_view"``, or replaces its definition."""
        from ._people import Role

        body = {"permissions": list(permissions), "description": description}
        answer = self._api.call("PUT", f"/api/v1/roles/{segment(name)}", body)
        return Role(self._api, answer["role"])

    def list_roles(self) -> Listing[Role]:
        """Returns all roles, the built-in ones first."""
        from ._people import Role

        items = self._api.get("/api/v1/roles").get("items") or []
        return Listing(Role(self._api, item) for item in items)

    def give_role(self, role: str, user: str = "", group: str = "", workspace: str = "") -> Grant:
        """Gives a role to a user or a group, in a workspace or everywhere. The grant's ``take()`` takes it again."""
        from ._people import Grant

        body = {"role": role, "user": user, "group": group, "workspace": workspace}
        return Grant(self._api, self._api.call("POST", "/api/v1/grants", body)["grant"])

    def list_grants(self, user: str = "", group: str = "", workspace: str = "") -> Listing[Grant]:
        """Returns who has which role, as far as the caller may see it: of a user (without those of its groups), of a
        group, in a workspace, or all.
        """
        from ._people import Grant

        query = [("user", user), ("group", group), ("workspace", workspace)]
        items = self._api.get("/api/v1/grants", query).get("items") or []
        return Listing(Grant(self._api, item) for item in items)
