"""Saves of a task's folder in an object store: sent by the program that sends checkpoints, and brought back."""

import json
import random
import unittest
from pathlib import Path
from unittest import mock

from fake_platform import TOKEN
from fake_store import StorePlatform
from work_folders import Folders, draw_tree, tree_of

from trainyard import _storage
from trainyard._checkpoint import _uploader
from trainyard._http import HttpConnection
from trainyard._work import _restore
from trainyard._work._unpack import MalformedError

# The only run that the platform of these tests knows.
RUN = "12.3#2"


class Stored(Folders):
    def setUp(self):
        super().setUp()
        self.platform = StorePlatform()
        self.addCleanup(self.platform.stop)

    def sent(self, store="s3://b/p"):
        """Saves the folder, and delivers the save as the agent does. Returns its checkpoint."""
        self.platform.address = store
        result, folder = self.saved(store=store)
        self.assertEqual(result["kind"], "saved")
        record = json.loads(
            (self.base / "saves/spool/checkpoints" / f"{folder.name}.json").read_bytes()
        )
        connection = HttpConnection(self.platform.url, TOKEN, 10)
        self.addCleanup(connection.close)
        path = f"/api/v1/runs/{RUN.replace('#', '%23')}/checkpoints"
        declared = {"checkpoint": folder.name, "stepsCompleted": 1, "metadata": record["metadata"]}
        self.assertTrue(connection.request_json("POST", path, declared).is_success())
        manifest, digested = record["manifest"], record["isDigested"]
        order = _uploader.Order(
            self.platform.url, TOKEN, RUN, folder.name, folder, manifest, digested=digested
        )
        with mock.patch.object(_uploader, "digest", side_effect=AssertionError("it was read")):
            _uploader.Uploader(order).upload()
        path = f"{path}/{folder.name}/complete"
        answer = connection.request_json("POST", path, {"manifest": manifest})
        self.assertTrue(answer.is_success(), answer.body)
        return folder.name

    def restored(self, checkpoint, bytes_max=1 << 30, files_max=10_000):
        target = self.base / f"target-{checkpoint}"
        target.mkdir(exist_ok=True)
        fetched, url = str(self.base / "fetched"), self.platform.url
        order = (url, TOKEN, RUN, checkpoint, fetched, str(target), bytes_max, files_max)
        try:
            _restore.restore(_restore.Order(*order))
        except Exception:
            self.assertEqual(list(target.iterdir()), [])
            raise
        finally:
            self.assertFalse(Path(fetched).exists())
        return target

    def test_a_save_comes_back_from_each_kind_of_store(self):
        for seed, store in enumerate(("s3://b/p", "gs://b/p")):
            with self.subTest(store=store):
                draw_tree(random.Random(seed), bytes(self.work), depth=3)
                (self.work / "seed").write_text(str(seed))
                back = self.restored(self.sent(store))
                self.assertEqual(tree_of(back), tree_of(self.work))

    def test_a_save_that_the_store_has_damaged_is_not_unpacked(self):
        (self.work / "x").write_text("x")
        checkpoint = self.sent()
        objects = self.platform.objects
        objects.update({key: bytes(len(content)) for key, content in objects.items()})
        with self.assertRaises(_storage.DamagedError):
            self.restored(checkpoint)

    def test_a_checkpoint_of_another_format_is_not_unpacked(self):
        (self.work / "x").write_text("x")
        with mock.patch("trainyard._work._pack.FORMAT", "trainyard-work/9"):
            checkpoint = self.sent()
        with self.assertRaisesRegex(MalformedError, "is not a save of a task's folder"):
            self.restored(checkpoint)


if __name__ == "__main__":
    unittest.main()
