"""One checkpoint of several hosts in an object store: each host uploads its files, and the chief's host completes
the checkpoint.
"""

from __future__ import annotations

import json
import signal
import threading
import unittest

from fake_platform import problem
from fake_store import StorePlatform
from test_distributed import DistributedCase

from trainyard._versions import without_versions

HERE = """
os.environ["TRAINYARD_CHECKPOINT_ROOT"] = os.environ["TRAINYARD_RUN_DIR"] + "/checkpoints"
"""

STORE = (
    HERE
    + """
with trainyard.init(distributed=together) as ctx:
    mine = {"steps_completed": 7} if rank == 0 else {"rank": "some"}
    ctx.train.report_validation_metrics(7, {"loss": 1})
    with ctx.checkpoint.store_path(mine, shard=True) as (path, uuid):
        (path / "shards").mkdir()
        (path / "shards" / f"{rank}.bin").write_bytes(bytes([rank]) * 100_000)
        if rank == 0:
            (path / "model").write_text("whole")
    with ctx.checkpoint.restore_path(uuid) as path:
        assert (path / "model").read_text() == "whole"
        for other in range(together.size):
            assert (path / "shards" / f"{other}.bin").read_bytes() == bytes([other]) * 100_000
"""
)


class HostCase(DistributedCase):
    def setUp(self):
        super().setUp()
        self.platform.stop()
        self.platform = StorePlatform()
        self.addCleanup(self.platform.stop)

    def hosts(self, script, codes=None, size=4):
        return self.together(script, codes, size=size, hosts=2, TRAINYARD_CHECKPOINT_UPLOADS="1")

    def only(self):
        """The UUID of the only complete checkpoint."""
        found = self.platform.checkpoints.items()
        (uuid,) = [uuid for uuid, checkpoint in found if checkpoint["state"] == "COMPLETED"]
        return uuid

    def left(self):
        return sorted(str(path) for path in self.folder.glob("run-*/checkpoints/*")) + sorted(
            path.name for path in self.folder.glob("run-*/spool/checkpoints/*")
        )


class Hosts(HostCase):
    def test_each_host_uploads_its_files_once(self):
        self.hosts(STORE)
        uuid = self.only()
        shards = [f"{uuid}/shards/{rank}.bin" for rank in range(4)]
        wanted = sorted([*shards, f"{uuid}/model", f"{uuid}/metadata.json"])
        self.assertEqual(sorted(self.platform.sent), wanted)
        stored = self.platform.checkpoints[uuid]
        metadata = without_versions(stored["metadata"])
        self.assertEqual(metadata, {"steps_completed": 7, "rank": "some"})
        self.assertEqual(stored["stepsCompleted"], 7)
        # The host that declares it first names the chief's last validation.
        self.assertEqual(set(stored["named"]), {"0-1"})
        self.assertEqual(self.left(), [])

    def test_a_checkpoint_is_complete_only_when_the_slower_host_has_uploaded_its_files(self):
        go_on = threading.Event()
        tried = []

        def fault(method, key):
            if method == "PUT" and "shards/3" in key:
                go_on.wait(120)

        def look(request):
            if request.path.endswith("/complete"):
                tried.append(request.body["manifest"])
                if len(tried) > 1:
                    go_on.set()

        self.platform.store_faults, self.platform.faults = fault, look
        self.hosts(STORE)
        self.only()
        # The chief's host uploaded its files once, although it asked for completion several times.
        self.assertEqual(len(self.platform.sent), len(set(self.platform.sent)))
        self.assertGreater(len(tried), 1)

    def test_a_file_name_that_two_hosts_use_is_refused(self):
        script = (
            HERE
            + """
with trainyard.init(distributed=together) as ctx:
    try:
        with ctx.checkpoint.store_path({"steps_completed": 1}, shard=True) as (path, _):
            (path / ("model" if rank in (1, 2) else str(rank))).write_text("x")
    except (ValueError, trainyard.CheckpointError) as error:
        print(error)
"""
        )
        out, _ = self.hosts(script)
        for text in out:
            self.assertIn("ranks 1 and 2 both store 'model': name files after", text)
        self.assertEqual((self.platform.sent, self.left()), ([], []))

    def test_an_error_on_another_host_is_raised_on_all_ranks(self):
        script = (
            HERE
            + """
with trainyard.init(distributed=together) as ctx:
    try:
        with ctx.checkpoint.store_path({"steps_completed": 1}, shard=True) as (path, _):
            (path / str(rank)).write_text("x")
            if rank == 3:
                raise OSError("the disk is full")
    except (OSError, trainyard.CheckpointError) as error:
        print(error)
"""
        )
        out, _ = self.hosts(script)
        self.assertTrue(all("the disk is full" in text for text in out), out)
        self.assertEqual((self.platform.sent, self.left()), ([], []))

    def test_files_that_a_killed_host_has_not_uploaded_are_in_its_spool(self):
        script = (
            HERE
            + """
with trainyard.init(distributed=together) as ctx:
    with ctx.checkpoint.store_path({"steps_completed": 1}, shard=True) as (path, _):
        (path / str(rank)).write_text("x")
    os.kill(os.getpid(), signal.SIGKILL)
"""
        )
        self.platform.store_faults = lambda method, key: 503
        self.hosts(script, [-signal.SIGKILL] * 4)
        (chief,) = self.folder.glob("run-0/spool/checkpoints/*.json")
        (other,) = self.folder.glob("run-1/spool/checkpoints/*.json")
        of_chief, of_other = json.loads(chief.read_text()), json.loads(other.read_text())
        self.assertTrue(of_other["isPart"])
        self.assertEqual([entry["path"] for entry in of_other["manifest"]], ["2", "3"])
        paths = [entry["path"] for entry in of_chief["manifest"]]
        self.assertEqual(paths, ["0", "1", "metadata.json"])
        self.assertEqual([entry["path"] for entry in of_chief["ofOthers"]], ["2", "3"])
        self.assertTrue(all(entry["md5"] for entry in of_chief["ofOthers"]))
        self.assertEqual(self.completed(), [])

    def test_a_file_that_another_host_cannot_upload_ends_the_chiefs_wait(self):
        script = (
            HERE
            + """
import time
with trainyard.init(distributed=together) as ctx:
    with ctx.checkpoint.store_path({"steps_completed": 1}, shard=True) as (path, uuid):
        (path / str(rank)).write_text("x")
    if rank == 2:
        (ctx.info.run_dir / "checkpoints" / uuid / "3").write_text("y")
        (ctx.info.run_dir / "changed").touch()
    waiting = ctx.info.run_dir / "spool" / "checkpoints" / f"{uuid}.json"
    while rank in (0, 2) and waiting.exists():
        time.sleep(0.01)
"""
        )
        # The answer is delayed until a file of the other host has changed.
        self.platform.faults = lambda request: (
            None if list(self.folder.glob("run-*/changed")) else problem(503, "away", "soon")
        )
        self.hosts(script)
        self.assertEqual(self.completed(), [])
        (checkpoint,) = self.platform.checkpoints.values()
        self.assertEqual(checkpoint["state"], "FAILED")
        self.assertRegex(checkpoint["reason"], "/3 has changed since the checkpoint was stored")

    def completed(self):
        return [c for c in self.platform.checkpoints.values() if c["state"] == "COMPLETED"]

    def test_several_hosts_store_checkpoints_in_the_background(self):
        script = (
            HERE
            + """
with trainyard.init(distributed=together) as ctx:
    stored = [
        ctx.checkpoint.store_in_background(
            lambda path, step=step: (path / f"{rank}-{step}").write_text("x"),
            {"steps_completed": step}, shard=True)
        for step in range(1, 4)
    ]
    for one in stored:
        with ctx.checkpoint.restore_path(one.uuid):
            pass
"""
        )
        self.hosts(script)
        steps = [c["stepsCompleted"] for c in self.completed()]
        self.assertEqual(sorted(steps), [1, 2, 3])
        self.assertEqual(self.left(), [])


if __name__ == "__main__":
    unittest.main()
