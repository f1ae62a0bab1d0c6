"""Tests of commands and shells in ``trainyard.client``, with a fake gateway."""

from __future__ import annotations

import io
import json
import tarfile
from typing import Any

from test_client import archive, manifest
from test_client_metrics import END, event
from test_client_trials import ReadingTest

from trainyard import client

TASK = {
    "id": "t12",
    "kind": "command",
    "name": "echo hi",
    "state": "RUNNING",
    "slots": 1,
    "ports": [{"port": 80, "isTcp": False}],
    "createdAtMs": 1_790_000_000_000,
}
ENDED = {**TASK, "state": "ERROR", "reason": "exit code 3", "exitCode": 3}


def line(text: str) -> dict[str, Any]:
    return {"trial": "t12", "run": 1, "source": "stdout", "text": text, "cursor": text}


def small_files() -> bytes:
    """An archive of a save: a folder, a script and a link."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, kind, mode in (
            ("data", tarfile.DIRTYPE, 0o750),
            ("run.sh", tarfile.REGTYPE, 0o700),
            ("link", tarfile.SYMTYPE, 0o777),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.mode, member.mtime = kind, mode, 1_577_836_800
            member.linkname = "run.sh" if kind == tarfile.SYMTYPE else ""
            member.size = 2 if kind == tarfile.REGTYPE else 0
            tar.addfile(member, io.BytesIO(b"ls"))
    return packed.getvalue()


def save_of(path: str) -> dict[str, bytes]:
    """The files of a save whose large file has this path."""
    large = {"path": path, "file": "files/a", "mode": 0o640, "mtime": 0}
    described = {"format": "trainyard-work/1", "archives": ["small-1.tar"], "large": [large]}
    files = {"work.json": json.dumps(described).encode(), "small-1.tar": small_files()}
    return {**files, "files/a": b"large"}


class TaskTest(ReadingTest):
    def test_a_command_is_sent_with_its_words_and_its_folder(self) -> None:
        (self.folder / "main.py").write_text("print(1)")
        warnings = ["ready_timeout has no effect on a command"]
        self.answers["tasks"] = {"task": TASK, "warnings": warnings}
        with self.assertLogs("trainyard", "WARNING"):
            task = self.client.create_command(
                ["python3", "main.py"],
                {"idle_timeout": "5m"},
                self.folder,
                overrides={"resources.slots": 0},
                workspace="w",
            )
        self.assertEqual((task.id, task.state, task.warnings), ("t12", "RUNNING", warnings))
        ((_, sent),) = self.changes()
        self.assertTrue(sent.pop("context").startswith("H4sI"))
        self.assertEqual(
            sent,
            {
                "kind": "command",
                "config": '{"idle_timeout": "5m"}',
                "command": ["python3", "main.py"],
                "overrides": ["resources.slots=0"],
                "workspace": "w",
            },
        )

    def test_the_text_of_a_command_becomes_the_entrypoint_and_a_shell_has_none(self) -> None:
        self.answers["tasks"] = {"task": TASK}
        self.client.create_command("nvidia-smi | head")
        self.client.create_shell()
        (_, command), (_, shell) = self.changes()
        self.assertEqual(command["overrides"], ['entrypoint="nvidia-smi | head"'])
        self.assertEqual((shell["kind"], shell["command"], shell["config"]), ("shell", [], ""))

    def test_a_notebook_and_a_tensorboard_are_created_with_their_fields(self) -> None:
        save = {"checkpoint": "c1", "run": 1, "files": 3, "bytes": 9, "savedAtMs": 7}
        kept = {"hasPage": True, "keepsWork": True, "lastSave": save, "unsaved": "the disk is full"}
        self.answers["tasks"] = {"task": {**TASK, **kept, "kind": "notebook"}}
        notebook = self.client.create_notebook({"idle_timeout": "30m"}, key="one")
        self.assertEqual((notebook.has_page, notebook.keeps_work), (True, True))
        self.assertEqual((notebook.last_save, notebook.unsaved), (save, "the disk is full"))
        self.answers["tasks"] = {"task": {**TASK, "sources": ["12", "13.4"]}}
        board = self.client.create_tensorboard([12, "13.4"])
        self.assertEqual(
            (board.sources, board.last_save, board.unsaved), (["12", "13.4"], None, "")
        )
        (_, first), (_, second) = self.changes()
        self.assertEqual((first["kind"], "sources" in first), ("notebook", False))
        self.assertEqual((second["kind"], second["sources"]), ("tensorboard", ["12", "13.4"]))

    def test_a_task_is_paused_and_resumed(self) -> None:
        self.answers["tasks/t12"] = [TASK, {**TASK, "state": "PAUSED"}]
        self.answers["tasks/t12/pause"] = {"task": {**TASK, "state": "STOPPING"}}
        task = self.client.get_task("t12").pause("lunch")
        self.assertEqual((task.state, task.wait().state), ("STOPPING", "PAUSED"))
        self.answers["tasks/t12/resume"] = {"task": {**TASK, "state": "QUEUED"}}
        self.assertEqual(task.resume().state, "QUEUED")
        refused = {"code": "nothing_saved", "detail": "task t12: nothing of its folder was saved"}
        self.answers["tasks/t12/resume"] = (409, refused)
        with self.assertRaisesRegex(client.ApiError, "nothing of its folder was saved"):
            task.resume()
        paths = [path for path, _ in self.changes()]
        self.assertEqual(paths[:2], ["/api/v1/tasks/t12/pause", "/api/v1/tasks/t12/resume"])

    def test_masked_values_are_refused_before_a_request(self) -> None:
        with self.assertRaisesRegex(client.CodeError, "masked values"):
            self.client.create_shell({"environment": {"environment_variables": ["A=<masked>"]}})
        self.assertEqual(self.changes(), [])

    def test_wait_returns_the_ended_task_or_raises_after_its_time(self) -> None:
        self.answers["tasks/t12"] = [TASK, TASK, ENDED]
        task = self.client.get_task("t12")
        self.assertEqual((task.exit_code, task.ports), (None, TASK["ports"]))
        ended = task.wait(interval_s=0.01)
        self.assertEqual((ended.state, ended.exit_code, ended.reason), ("ERROR", 3, "exit code 3"))
        self.answers["tasks/t12"] = TASK
        with self.assertRaisesRegex(TimeoutError, "task t12 is RUNNING after 0"):
            task.wait(timeout_s=0)

    def test_lines_are_read_and_followed(self) -> None:
        self.answers["tasks/t12"] = TASK
        self.answers["tasks/t12/logs"] = {"items": [line("one")]}
        self.answers["tasks/t12/logs:follow"] = (200, event(1, **line("two")) + END)
        task = self.client.get_task("t12")
        self.assertEqual([str(one) for one in task.logs(source="stdout")], ["one"])
        self.assertEqual(self.queries("tasks/t12/logs")[0]["source"], ["stdout"])
        self.assertEqual([str(one) for one in task.logs(follow=True)], ["two"])

    def test_tasks_are_listed_killed_and_deleted(self) -> None:
        self.answers["tasks"] = {"items": [ENDED, TASK]}
        found = self.client.list_tasks("kind = command", "created_at desc")
        self.assertEqual([one.id for one in found], ["t12", "t12"])
        self.assertEqual(self.queries("tasks")[0]["filter"], ["kind = command"])
        self.answers["tasks/t12/kill"] = {"task": {**TASK, "state": "STOPPING"}}
        self.assertEqual(found[1].kill("why").state, "STOPPING")
        self.assertEqual(self.changes()[-1], ("/api/v1/tasks/t12/kill", {"reason": "why"}))
        refused = {"code": "task_not_ended", "detail": "task t12 has not ended: kill it first"}
        self.answers["tasks/t12"] = (409, refused)
        with self.assertRaisesRegex(client.ApiError, "has not ended"):
            found[1].delete()

    def test_the_folder_of_a_task_is_downloaded_from_its_newest_intact_save(self) -> None:
        self.answers["tasks/t12"] = TASK
        task = self.client.get_task("t12")
        self.answers["tasks/t12/checkpoints"] = {"items": []}
        with self.assertRaisesRegex(client.DownloadError, "nothing of task t12 is saved"):
            task.download(self.folder / "none")
        self.answers["tasks/t12/checkpoints"] = {"items": [{"uuid": "s1"}]}
        files = save_of("data/a.bin")
        self.answers["checkpoints/s1"] = {"uuid": "s1", "manifest": manifest(files)}
        self.answers["checkpoints/s1/archive"] = archive(files)
        folder = task.download(self.folder / "work")
        self.assertEqual((folder / "link").read_text(), "ls")
        self.assertEqual((folder / "data" / "a.bin").read_bytes(), b"large")
        self.assertEqual((folder / "data").stat().st_mode & 0o777, 0o750)
        self.assertEqual(
            self.queries("tasks/t12/checkpoints")[-1],
            {
                "filter": ["state = COMPLETED"],
                "order_by": ["steps_completed desc"],
                "pageSize": ["1"],
            },
        )
        with self.assertRaises(FileExistsError):
            task.download(folder)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["work"])

    def test_a_save_that_leads_out_of_its_folder_or_differs_leaves_nothing(self) -> None:
        self.answers["tasks/t12"] = TASK
        self.answers["tasks/t12/checkpoints"] = {"items": [{"uuid": "s1"}]}
        task = self.client.get_task("t12")
        for path in ("../a", "link/a"):
            files = save_of(path)
            self.answers["checkpoints/s1"] = {"uuid": "s1", "manifest": manifest(files)}
            self.answers["checkpoints/s1/archive"] = archive(files)
            with self.assertRaises((client.DownloadError, OSError)):
                task.download(self.folder / "work")
        self.answers["checkpoints/s1/archive"] = archive({**files, "files/a": b"other"})
        with self.assertRaisesRegex(client.DownloadError, "differs from its recorded SHA-256"):
            task.download(self.folder / "work")
        self.assertEqual(list(self.folder.iterdir()), [])
