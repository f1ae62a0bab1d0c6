"""Tests of ``trainyard.client`` for workspaces and projects, with a fake gateway."""

from __future__ import annotations

import unittest
from typing import Any

from test_client import Gateway

from trainyard import client

LAB = {"name": "Lab", "notes": "n", "etag": '"3"'}
FLOWERS = {"workspace": "Lab", "name": "a/b", "etag": '"5"'}


class SpacesTest(unittest.TestCase):
    def setUp(self) -> None:
        self.gateway = Gateway()
        self.addCleanup(self.gateway.stop)
        self.client = client.Client(self.gateway.url, "t", patience_s=5.0)
        self.addCleanup(self.client.close)
        self.gateway.answer = self.answer

    def answer(self, method: str, path: str) -> tuple[int, Any]:
        if "closed" in path:
            return 409, {"code": "workspace_archived", "detail": "it is archived"}
        if path == "/api/v1/experiments:move":
            return 200, {"items": [{"experiment": "7", "outcome": "changed"}]}
        if path.startswith("/api/v1/experiments"):
            return 200, {"id": "7", "workspace": "Lab", "items": [{"id": "7"}]}
        if path.startswith("/api/v1/models"):
            return 200, {"name": "iris", "model": {"name": "iris", "workspace": "Lab"}}
        if path.endswith("/projects") and method == "GET":
            return 200, {"items": [FLOWERS]}
        if path == "/api/v1/workspaces" and method == "GET":
            return 200, {"items": [LAB]}
        single = FLOWERS if "/projects" in path else LAB
        return 200, single if method == "GET" else {"workspace": LAB, "project": FLOWERS}

    def changes(self) -> list[tuple[str, str, Any]]:
        return [asked[:3] for asked in self.gateway.asked if asked[0] != "GET"]

    def test_a_workspace_and_a_project_are_created_changed_and_archived(self) -> None:
        lab = self.client.create_workspace("Lab", notes="n")
        self.assertEqual((lab.name, lab.notes, lab.archived), ("Lab", "n", False))
        lab.describe(description="d", if_unchanged=True)
        self.assertEqual(self.gateway.if_match, '"3"')
        lab.archive("over").unarchive()
        flowers = lab.create_project("a/b")
        flowers.describe(notes="").archive().unarchive()
        workspace, project = "/api/v1/workspaces/Lab", "/api/v1/workspaces/Lab/projects/a%2Fb"
        empty = {"name": "a/b", "description": "", "notes": ""}
        self.assertEqual(
            self.changes(),
            [
                ("POST", "/api/v1/workspaces", {"name": "Lab", "description": "", "notes": "n"}),
                ("PATCH", workspace, {"description": "d"}),
                ("POST", f"{workspace}/archive", {"reason": "over"}),
                ("POST", f"{workspace}/unarchive", {}),
                ("POST", f"{workspace}/projects", empty),
                ("PATCH", project, {"notes": ""}),
                ("POST", f"{project}/archive", {"reason": ""}),
                ("POST", f"{project}/unarchive", {}),
            ],
        )

    def test_workspaces_projects_and_their_contents_are_listed(self) -> None:
        self.assertEqual([one.name for one in self.client.list_workspaces(archived=True)], ["Lab"])
        lab = self.client.get_workspace("Lab")
        self.assertEqual([one.name for one in lab.list_projects()], ["a/b"])
        self.assertEqual(lab.get_project("a/b").workspace, "Lab")
        list(self.client.list_experiments(workspace="Lab", project="a/b"))
        _, path, _, query, _ = self.gateway.asked[-1]
        self.assertEqual((path, query["workspace"]), ("/api/v1/experiments", ["Lab"]))

    def test_experiments_and_models_are_moved_to_a_workspace(self) -> None:
        actions = self.client.move_experiments([7, "8"], "Lab", "a/b", dry_run=True)
        self.assertEqual([one.outcome for one in actions], ["changed"])
        self.client.get_experiment(7).move("Lab")
        self.assertEqual(self.client.get_model("iris").move("Lab").name, "iris")
        move = "/api/v1/experiments:move"
        both = {"experiments": ["7", "8"], "workspace": "Lab", "project": "a/b", "dryRun": True}
        one = {"experiments": ["7"], "workspace": "Lab", "project": ""}
        expected = [
            ("POST", move, both),
            ("POST", move, one),
            ("POST", "/api/v1/models/iris/move", {"workspace": "Lab"}),
        ]
        self.assertEqual(self.changes(), expected)

    def test_a_refused_move_raises_the_platforms_error(self) -> None:
        refused = {"outcome": "refused", "code": "experiment_not_found", "detail": "there is none"}
        found = self.client.get_experiment(7)
        self.gateway.answer = lambda method, path: (200, {"items": [refused]})
        with self.assertRaises(client.ApiError) as raised:
            found.move("Lab")
        self.assertEqual(raised.exception.code, "experiment_not_found")
        self.gateway.answer = self.answer
        with self.assertRaises(client.ApiError) as raised:
            self.client.get_workspace("closed")
        self.assertEqual(raised.exception.code, "workspace_archived")


if __name__ == "__main__":
    unittest.main()
