"""Tests of ``Client.register_folder`` with a directory storage and with an object store."""

from __future__ import annotations

import os
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import unquote

from fake_platform import LOSE_ANSWER, TOKEN, Answer, FakePlatform, Request, problem
from fake_store import StorePlatform

from trainyard import client
from trainyard.client import _folder

FILES = {"model.bin": b"w" * 300_000, "deep/config.json": b"{}", "a b é\n'.txt": b"names"}


class Models:
    """The gateway's calls for a person: models, and checkpoints without a run."""

    def __init__(self, platform: FakePlatform) -> None:
        self.platform = platform
        self.archived = False
        self.versions: list[str] = []
        self._handle = platform.handle

    def handle(self, request: Request) -> Answer:
        parts = [unquote(part) for part in request.path.split("/")[3:]]
        if parts[0] == "models":
            return self._models(request, parts[1:])
        if parts[0] == "checkpoints" and (len(parts) == 1 or parts[2] in ("upload", "complete")):
            as_of_run = request.path.replace("/api/v1/", "/api/v1/runs/12.3%232/", 1)
            return self._handle(request._replace(path=as_of_run))
        return self._handle(request)

    def _models(self, request: Request, parts: list[str]) -> Answer:
        if request.method == "GET" and parts != ["iris"]:
            return problem(404, "model_not_found", f"there is no model {parts[0]}")
        if not parts:
            return problem(409, "model_exists", "it exists")
        if parts[1:] != ["versions"]:
            return Answer(200, (), {"name": "iris", "archived": self.archived})
        checkpoint = request.body["checkpoint"]
        if checkpoint not in self.versions:
            self.versions.append(checkpoint)
        number = self.versions.index(checkpoint) + 1
        version = {"model": "iris", "number": number, "checkpoint": checkpoint, "uploadedBy": "ada"}
        return Answer(200, (), {"version": version})


class FolderTest(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name)
        self.folder = self.scratch / "model"
        for path, content in FILES.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_bytes(content)
        pause = mock.patch.object(_folder, "_AGAIN_S", 0.01)
        pause.start()
        self.addCleanup(pause.stop)

    def on(self, platform: FakePlatform) -> client.Client:
        self.platform = platform
        self.addCleanup(platform.stop)
        self.models = Models(platform)
        handle = mock.patch.object(platform, "handle", self.models.handle)
        handle.start()
        self.addCleanup(handle.stop)
        found = client.Client(platform.url, TOKEN, patience_s=5.0)
        self.addCleanup(found.close)
        return found

    def on_store(self) -> tuple[client.Client, StorePlatform]:
        platform = StorePlatform()
        return self.on(platform), platform

    def on_directory(self) -> client.Client:
        self.storage = self.scratch / "checkpoints"
        self.storage.mkdir()
        return self.on(FakePlatform(self.storage))

    def test_a_registered_folder_is_uploaded_unchanged(self) -> None:
        found, platform = self.on_store()
        version = found.register_folder("iris", self.folder)
        self.assertEqual((version.number, version.uploaded_by, version.trial), (1, "ada", ""))
        sent = {
            key.removeprefix(f"{version.checkpoint}/"): content
            for key, content in platform.objects.items()
        }
        self.assertEqual(sent, FILES)
        declared = platform.checkpoints[version.checkpoint]
        self.assertEqual(declared["metadata"], {"uploaded_from": "model"})

    def test_the_same_files_are_not_uploaded_again_and_return_the_same_version(self) -> None:
        found, platform = self.on_store()
        first = found.register_folder("iris", self.folder)
        count = len(platform.sent)
        again = found.register_folder("iris", self.folder, create_model=True)
        self.assertEqual((again.number, again.checkpoint), (1, first.checkpoint))
        self.assertEqual(len(platform.sent), count)
        (self.folder / "model.bin").write_bytes(b"other")
        other = found.register_folder("iris", self.folder)
        self.assertEqual(other.number, 2)
        self.assertNotEqual(other.checkpoint, first.checkpoint)

    def test_the_same_folder_has_another_id_on_another_cluster(self) -> None:
        found, platform = self.on_store()
        first = found.register_folder("iris", self.folder)
        platform.log = "00000000-0000-7000-8000-000000000002"
        self.assertNotEqual(found.register_folder("iris", self.folder).checkpoint, first.checkpoint)

    def test_an_interrupted_upload_continues_with_the_missing_files(self) -> None:
        found, platform = self.on_store()
        refusing = {"on": True}
        platform.store_faults = lambda method, key: (
            503 if refusing["on"] and key.endswith("model.bin") else None
        )
        with (
            mock.patch("trainyard._checkpoint._uploader.UPLOAD_ROUNDS_MAX", 1),
            mock.patch.object(_folder, "_ATTEMPTS", 1),
            self.assertRaisesRegex(client.UploadError, "a repeat sends what is missing"),
        ):
            found.register_folder("iris", self.folder)
        self.assertEqual(self.models.versions, [])
        self.assertEqual(len(platform.sent), 2)
        refusing["on"] = False
        found.register_folder("iris", self.folder)
        self.assertEqual(len(platform.sent), 3)
        self.assertTrue(platform.sent[-1].endswith("model.bin"))

    def test_a_refusal_of_the_store_during_the_upload_raises_upload_error(self) -> None:
        found, platform = self.on_store()
        platform.store_faults = lambda method, key: 403
        with (
            mock.patch("trainyard._checkpoint._uploader.UPLOAD_ROUNDS_MAX", 1),
            mock.patch.object(_folder, "_ATTEMPTS", 1),
            self.assertRaises(client.UploadError) as raised,
        ):
            found.register_folder("iris", self.folder)
        sentence = (
            "could not be sent to s3://b/p: the object store answered 403: SlowDown; a repeat"
        )
        self.assertIn(sentence, str(raised.exception))

    def test_a_folder_is_registered_once_even_if_every_answer_is_lost(self) -> None:
        found, platform = self.on_store()
        lost: set[str] = set()

        def lose(request: Request) -> Any:
            if request.method == "GET" or request.path in lost:
                return None
            lost.add(request.path)
            return LOSE_ANSWER

        platform.faults = lose
        with mock.patch("trainyard._checkpoint._uploader.CHECKPOINT_BACKOFF_FIRST_S", 0.01):
            version = found.register_folder("iris", self.folder)
        self.assertEqual(version.number, 1)
        self.assertEqual(len(lost), 4)

    def test_an_id_that_cannot_be_used_is_replaced_by_the_contents_next_id(self) -> None:
        found, platform = self.on_store()
        first = found.register_folder("iris", self.folder).checkpoint
        others: set[str] = set()
        for code in ("checkpoint_failed", "checkpoint_deleted", "checkpoint_exists"):
            refusal = problem(409, code, "it is not of use")
            platform.faults = lambda request, refusal=refusal: (
                refusal
                if first in request.path or (request.body or {}).get("checkpoint") == first
                else None
            )
            with self.subTest(code):
                other = found.register_folder("iris", self.folder).checkpoint
                self.assertNotEqual(other, first)
                others.add(other)
        self.assertEqual((len(others), len(self.models.versions)), (1, 2))

    def test_a_directory_storage_gets_the_files_and_its_id_is_declared(self) -> None:
        found = self.on_directory()
        version = found.register_folder("iris", self.folder)
        stored = self.storage / version.checkpoint
        for path, content in FILES.items():
            self.assertEqual((stored / path).read_bytes(), content)
        marker = (self.storage / ".trainyard-storage").read_text().split("\n", 1)[0]
        self.assertEqual(self.platform.checkpoints[version.checkpoint]["storageId"], marker)

    def test_a_directory_storage_that_this_host_lacks_is_named_in_the_error(self) -> None:
        found = self.on_directory()
        self.storage.rmdir()
        with self.assertRaisesRegex(client.UploadError, "checkpoints, which this host does not"):
            found.register_folder("iris", self.folder)
        self.assertFalse(self.storage.exists())

    def test_a_failed_copy_to_a_directory_storage_leaves_no_files(self) -> None:
        found = self.on_directory()
        full = OSError(28, "No space left on device")
        with (
            mock.patch("shutil.copyfileobj", side_effect=full),
            self.assertRaisesRegex(OSError, "No space left"),
        ):
            found.register_folder("iris", self.folder)
        self.assertEqual([one.name for one in self.storage.iterdir()], [".trainyard-storage"])

    def test_files_that_another_upload_has_completed_are_not_replaced(self) -> None:
        found = self.on_directory()
        before: dict[str, int] = {}

        def overtake(request: Request) -> Any:
            # Another upload of the same content finishes between the declaration and the copy.
            if request.path == "/api/v1/checkpoints" and "storageId" in request.body:
                target = self.storage / request.body["checkpoint"]
                shutil.copytree(self.folder, target)
                before.update((path, (target / path).stat().st_ino) for path in FILES)
            return None

        self.platform.faults = overtake
        version = found.register_folder("iris", self.folder)
        target = self.storage / version.checkpoint
        self.assertEqual({path: (target / path).stat().st_ino for path in FILES}, before)
        names = sorted(one.name for one in self.storage.iterdir())
        self.assertEqual(names, sorted([".trainyard-storage", version.checkpoint]))

    def test_a_link_instead_of_the_checkpoints_folder_is_not_followed(self) -> None:
        found = self.on_directory()
        elsewhere = self.scratch / "elsewhere"
        elsewhere.mkdir()

        def plant(request: Request) -> Any:
            if request.path == "/api/v1/checkpoints" and "storageId" in request.body:
                (self.storage / request.body["checkpoint"]).symlink_to(elsewhere)
            return None

        self.platform.faults = plant
        with self.assertRaises(OSError):
            found.register_folder("iris", self.folder)
        self.assertEqual(list(elsewhere.iterdir()), [])
        self.assertEqual(self.models.versions, [])

    def test_a_file_that_cannot_be_uploaded_is_refused_before_the_declaration(self) -> None:
        found, platform = self.on_store()
        outside = self.scratch / "outside"
        outside.mkdir()
        (outside / "key").write_text("secret")

        def link() -> None:
            (self.folder / "stolen").symlink_to(outside / "key")

        def link_to_folder() -> None:
            (self.folder / "stolen").symlink_to(outside)

        def dangling() -> None:
            (self.folder / "stolen").symlink_to("nowhere")

        def loop() -> None:
            (self.folder / "stolen").symlink_to(self.folder / "deep", target_is_directory=True)
            (self.folder / "deep" / "up").symlink_to(self.folder, target_is_directory=True)

        def pipe() -> None:
            os.mkfifo(self.folder / "stolen")

        def odd_name() -> None:
            (self.folder / os.fsdecode(b"n\xff")).write_bytes(b"")

        def too_deep() -> None:
            before = os.getcwd()
            os.chdir(self.folder)
            try:
                for _ in range(30):
                    os.mkdir("d" * 200)
                    os.chdir("d" * 200)
            finally:
                os.chdir(before)

        def too_many() -> None:
            (self.folder / "many").mkdir()
            for number in range(5_001 - len(FILES)):
                (self.folder / "many" / str(number)).touch()

        cases = [
            (link, "stolen' is a link out of the folder"),
            (link_to_folder, "stolen' is a link out of the folder"),
            (dangling, "stolen is neither a file nor a folder"),
            (loop, "is a link"),
            (pipe, "stolen is neither a file nor a folder"),
            (odd_name, r"the name 'n\\udcff' .* is not UTF-8"),
            (too_deep, "^.{,250} has too long a path$"),
            (too_many, "more than 5,000 files"),
        ]
        for make, why in cases:
            make()
            with self.subTest(make.__name__), self.assertRaisesRegex(ValueError, why):
                found.register_folder("iris", self.folder)
            for path in ("stolen", "deep/up", os.fsdecode(b"n\xff")):
                (self.folder / path).unlink(missing_ok=True)
            shutil.rmtree(self.folder / ("d" * 200), ignore_errors=True)
        empty = self.scratch / "empty"
        (empty / "deep").mkdir(parents=True)
        for folder, why in (
            (empty, "has no files"),
            (self.folder / "model.bin", "is not a folder"),
        ):
            with self.assertRaisesRegex(ValueError, why):
                found.register_folder("iris", folder)
        self.assertEqual((platform.checkpoints, platform.objects), ({}, {}))

    def test_a_link_within_the_folder_is_uploaded_as_its_file(self) -> None:
        found, platform = self.on_store()
        (self.folder / "latest").symlink_to("model.bin")
        version = found.register_folder("iris", self.folder)
        sent = platform.objects[f"{version.checkpoint}/latest"]
        self.assertEqual(sent, FILES["model.bin"])

    def test_an_unknown_or_archived_model_is_refused_before_anything_is_sent(self) -> None:
        found, platform = self.on_store()
        with self.assertRaisesRegex(client.NotFoundError, "there is no model rose"):
            found.register_folder("rose", self.folder)
        self.models.archived = True
        with self.assertRaisesRegex(client.ApiError, "is archived"):
            found.register_folder("iris", self.folder)
        self.assertEqual(platform.sent, [])

    def test_a_file_that_changes_during_the_upload_is_named_in_the_error(self) -> None:
        found, platform = self.on_store()

        def change(request: Request) -> Any:
            if request.path == "/api/v1/checkpoints":
                (self.folder / "model.bin").write_bytes(b"v" * 300_000)
            return None

        platform.faults = change
        with self.assertRaisesRegex(client.UploadError, "model.bin has changed"):
            found.register_folder("iris", self.folder)
        self.assertEqual(self.models.versions, [])


if __name__ == "__main__":
    unittest.main()
