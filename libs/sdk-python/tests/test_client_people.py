"""Tests of ``trainyard.client`` for users, groups, roles and sign-ins, with a fake gateway."""

from __future__ import annotations

import hashlib
import os
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from test_client import Gateway

from trainyard import client
from trainyard.client._device_login import sent_password
from trainyard.client._logins import logins_file, read_logins

ADA = {"id": "u1", "name": "ada", "kind": "person", "groups": ["vision"]}
GRANT = {"id": "r1", "role": "editor", "user": "ada", "workspace": "Lab"}
PENDING = (400, {"code": "authorization_pending", "detail": "nobody has confirmed"})
STARTED = {"code": "BC-DF", "secret": "s", "path": "/device?code=BC-DF", "intervalSeconds": 0}


class PeopleTest(unittest.TestCase):
    def setUp(self) -> None:
        self.gateway = Gateway()
        self.addCleanup(self.gateway.stop)
        self.client = client.Client(self.gateway.url, "t", patience_s=5.0)
        self.addCleanup(self.client.close)
        self.answers: dict[str, Any] = {}
        self.gateway.answer = lambda method, path: (200, self.answers.get(f"{method} {path}", {}))

    def changes(self) -> list[tuple[str, str, Any]]:
        return [asked[:3] for asked in self.gateway.asked if asked[0] != "GET"]

    def test_whoami_has_the_user_its_roles_and_its_permissions(self) -> None:
        lab = {"workspace": "Lab", "permissions": ["experiment_create"]}
        roles = [{"role": "editor", "workspace": "Lab"}]
        me = {"user": ADA, "hasUsers": True, "roles": roles, "workspaces": [lab]}
        self.answers["GET /api/v1/me"] = me
        found = self.client.whoami()
        self.assertEqual((found.user, found.groups, found.roles), ("ada", ["vision"], roles))
        self.assertEqual(found.workspaces, {"Lab": ["experiment_create"]})
        self.answers["GET /api/v1/me"] = {}
        self.assertEqual((self.client.whoami().user, self.client.whoami().has_users), ("", False))

    def test_a_password_is_sent_as_the_hash_of_determineds_salt_and_the_text(self) -> None:
        salted = b"GubPEmmotfiK9TMD6Zdw" + "häse".encode()
        self.assertEqual(sent_password("häse"), hashlib.sha512(salted).hexdigest())

    def test_a_user_is_created_changed_and_disabled(self) -> None:
        made = {"user": ADA, "password": "random words"}
        self.answers["POST /api/v1/users"] = made
        for verb in ("disable", "enable"):
            self.answers[f"POST /api/v1/users/u1/{verb}"] = {"user": {**ADA, "disabled": True}}
        self.answers["PATCH /api/v1/users/u1"] = {"user": ADA}
        self.answers["POST /api/v1/users/u1/reset"] = {"password": "others"}
        ada = self.client.create_user("ada", email="a@x", admin=True)
        with self.assertRaisesRegex(ValueError, "at least 8 characters"):
            self.client.create_user("bo", "1234567")
        self.assertEqual(ada.password, "random words")
        self.assertNotIn("random words", repr(ada))
        self.client.create_user("bo", "correct horse")
        self.client.create_user("ci", service=True)
        self.assertTrue(ada.describe(name="ada.l").disable("left").disabled)
        ada.enable()
        self.assertEqual(ada.reset_password(), "others")
        person = {"displayName": "", "email": "", "kind": "person", "password": "", "admin": False}
        self.assertEqual(
            self.changes(),
            [
                ("POST", "/api/v1/users", {**person, "name": "ada", "email": "a@x", "admin": True}),
                (
                    "POST",
                    "/api/v1/users",
                    {**person, "name": "bo", "password": sent_password("correct horse")},
                ),
                ("POST", "/api/v1/users", {**person, "name": "ci", "kind": "service"}),
                ("PATCH", "/api/v1/users/u1", {"name": "ada.l"}),
                ("POST", "/api/v1/users/u1/disable", {"reason": "left"}),
                ("POST", "/api/v1/users/u1/enable", {}),
                ("POST", "/api/v1/users/u1/reset", {}),
            ],
        )

    def test_an_identity_is_added_and_removed(self) -> None:
        identity = {"issuer": "https://sso.example", "subject": "s-1"}
        self.answers["GET /api/v1/users/ada"] = {**ADA, "identities": [identity]}
        self.answers["PATCH /api/v1/users/u1"] = {"user": ADA}
        ada = self.client.get_user("ada")
        self.assertEqual(ada.identities, [identity])
        removed = ada.add_identity(**identity).remove_identity(**identity)
        self.assertEqual(removed.identities, [])
        path = "/api/v1/users/u1"
        changes = [{"addIdentity": identity}, {"removeIdentity": identity}]
        self.assertEqual(self.changes(), [("PATCH", path, change) for change in changes])

    def test_groups_and_roles_are_made_given_and_taken(self) -> None:
        group = {"group": {"id": "g1", "name": "vision", "members": ["ada"]}}
        self.answers["POST /api/v1/groups"] = group
        self.answers["POST /api/v1/groups/g1/members"] = group
        self.answers["PATCH /api/v1/groups/g1"] = group
        self.answers["PUT /api/v1/roles/reader"] = {"role": {"name": "reader"}}
        self.answers["POST /api/v1/grants"] = {"grant": GRANT}
        self.client.create_group("vision", ["ada"]).add("bo", "cy").remove("ada").rename(
            "sight"
        ).delete()
        role = self.client.define_role("reader", ["experiment_view"])
        self.client.give_role("editor", user="ada", workspace="Lab").take()
        role.delete()
        self.assertEqual(
            self.changes(),
            [
                ("POST", "/api/v1/groups", {"name": "vision", "members": ["ada"]}),
                ("POST", "/api/v1/groups/g1/members", {"join": ["bo", "cy"]}),
                ("POST", "/api/v1/groups/g1/members", {"leave": ["ada"]}),
                ("PATCH", "/api/v1/groups/g1", {"name": "sight"}),
                ("DELETE", "/api/v1/groups/g1", None),
                (
                    "PUT",
                    "/api/v1/roles/reader",
                    {"permissions": ["experiment_view"], "description": ""},
                ),
                (
                    "POST",
                    "/api/v1/grants",
                    {"role": "editor", "user": "ada", "group": "", "workspace": "Lab"},
                ),
                ("DELETE", "/api/v1/grants/r1", None),
                ("DELETE", "/api/v1/roles/reader", None),
            ],
        )

    def test_users_groups_roles_and_grants_are_listed(self) -> None:
        for path, item in (("users", ADA), ("grants", GRANT)):
            self.answers[f"GET /api/v1/{path}"] = {"items": [item]}
        self.answers["GET /api/v1/users/ada"] = ADA
        self.assertEqual([one.name for one in self.client.list_users("a")], ["ada"])
        self.assertEqual(self.client.get_user("ada").id, "u1")
        self.assertEqual([one.role for one in self.client.list_grants(workspace="Lab")], ["editor"])
        self.assertEqual(self.gateway.asked[-1][3], {"workspace": ["Lab"]})
        self.assertEqual([*self.client.list_groups(), *self.client.list_roles()], [])


class SignInTest(unittest.TestCase):
    def setUp(self) -> None:
        self.gateway = Gateway()
        self.addCleanup(self.gateway.stop)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        patch = mock.patch.dict(os.environ, {"XDG_CONFIG_HOME": str(Path(folder.name) / "config")})
        patch.start()
        self.addCleanup(patch.stop)
        self.finishes: list[tuple[int, Any]] = []
        self.gateway.answer = self.answer

    def answer(self, method: str, path: str) -> tuple[int, Any]:
        if path == "/api/v1/device-logins":
            return 200, STARTED
        if path == "/api/v1/device-logins:finish":
            return self.finishes.pop(0)
        if path == "/api/v1/sessions/current":
            return 200, {"token": "k1"}
        return 200, {}

    def calls(self) -> list[tuple[str, str]]:
        return [asked[:2] for asked in self.gateway.asked]

    def test_login_waits_for_the_person_and_logout_revokes_the_token(self) -> None:
        self.finishes = [PENDING, PENDING, (200, {"token": "secret", "user": "ada"})]
        said: list[str] = []
        self.assertEqual(client.login(f"{self.gateway.url}/", name="lab", say=said.append), "lab")
        page = f"{self.gateway.url}/device?code=BC-DF"
        self.assertEqual(said, [f"open {page} in a browser, and confirm the code BC-DF"])
        known = read_logins(os.environ)
        self.assertEqual((known.clusters["lab"].token, known.users), ("secret", {"lab": "ada"}))
        self.assertEqual(logins_file(os.environ).stat().st_mode & 0o777, 0o600)
        # Another login leaves the name of this one's person in the file.
        client.login(self.gateway.url, "other", "other")
        client.logout("lab")
        self.assertEqual(
            self.calls()[-2:],
            [("GET", "/api/v1/sessions/current"), ("DELETE", "/api/v1/tokens/k1")],
        )
        count = len(self.calls())
        client.logout("other")
        self.assertEqual((len(self.calls()), read_logins(os.environ).clusters), (count, {}))

    def test_a_refusal_ends_the_sign_in_and_stores_nothing(self) -> None:
        self.finishes = [PENDING, (400, {"code": "access_denied", "detail": "the person refused"})]
        with self.assertRaisesRegex(client.ApiError, "the person refused"):
            client.login(self.gateway.url, say=lambda _: None)
        self.assertFalse(logins_file(os.environ).exists())

    def test_a_program_that_asks_too_often_waits_longer(self) -> None:
        self.finishes = [(400, {"code": "slow_down"}), (200, {"token": "secret", "user": "ada"})]
        with mock.patch("time.sleep") as slept:
            client.login(self.gateway.url, say=lambda _: None)
        self.assertEqual([one.args for one in slept.call_args_list], [(0.0,), (5.0,)])

    def test_login_with_name_and_password_confirms_its_own_code(self) -> None:
        self.finishes = [(200, {"token": "secret", "user": "ada"})]
        client.login(self.gateway.url, user="ada", password="correct horse")
        self.assertEqual(
            self.calls()[:5],
            [
                ("POST", "/api/v1/sessions"),
                ("POST", "/api/v1/device-logins"),
                ("POST", "/api/v1/device-logins/BC-DF:answer"),
                ("POST", "/api/v1/device-logins:finish"),
                ("DELETE", "/api/v1/sessions/current"),
            ],
        )
        self.assertEqual(self.gateway.asked[0][2]["password"], sent_password("correct horse"))
        with self.assertRaises(ValueError):
            client.login(self.gateway.url, "token", user="ada", password="x")


if __name__ == "__main__":
    unittest.main()
