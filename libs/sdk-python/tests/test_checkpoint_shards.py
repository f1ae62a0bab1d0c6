"""One checkpoint from the files of several ranks, and checkpoints that are stored in the background."""

from __future__ import annotations

import signal
import threading
import unittest
from pathlib import Path

from fake_platform import problem
from test_checkpoint import CheckpointCase, tree
from test_distributed import DistributedCase

from trainyard._checkpoint import background_of
from trainyard._storage_marker import NAME
from trainyard._versions import without_versions


class ShardCase(DistributedCase):
    def setUp(self):
        super().setUp()
        self.platform.storage.mkdir()

    def only(self):
        """The UUID of the only complete checkpoint."""
        found = self.platform.checkpoints.items()
        (uuid,) = [uuid for uuid, checkpoint in found if checkpoint["state"] == "COMPLETED"]
        return uuid

    def assert_nothing_is_left(self):
        self.assertEqual([c for c in self.platform.checkpoints.values() if "manifest" in c], [])
        self.assertEqual([path.name for path in self.platform.storage.glob("**/*")], [NAME])
        for spool in self.folder.glob("run-*/spool/checkpoints"):
            self.assertEqual(list(spool.iterdir()), [])


STORE = """
    with trainyard.init(distributed=together) as ctx:
        mine = {"steps_completed": 7} if rank == 0 else {"rank": "some"}
        with ctx.checkpoint.store_path(mine, shard=True) as (path, uuid):
            (path / "shards").mkdir()
            (path / "shards" / f"{rank}.bin").write_bytes(bytes([rank]) * 100_000)
            if rank == 0:
                (path / "model").write_text("whole")
        assert len(set(together.allgather(uuid))) == 1
        with ctx.checkpoint.restore_path(uuid) as path:
            assert (path / "shards" / f"{rank}.bin").read_bytes() == bytes([rank]) * 100_000
            assert (path / "model").read_text() == "whole"
        ctx.checkpoint.download(uuid, os.environ["TRAINYARD_RUN_DIR"] + "/copy")
        mode = trainyard.DownloadMode.NoSharedDownload
        ctx.checkpoint.download(uuid, f"copy-{rank}", mode)
        together.barrier()
        assert os.path.exists(os.environ["TRAINYARD_RUN_DIR"] + "/copy/shards/1.bin")
"""


class Shards(ShardCase):
    def test_shards_from_one_and_from_two_hosts_are_one_checkpoint(self):
        for hosts in (1, 2):
            for root in (str(self.platform.storage), ""):
                self.platform.checkpoints.clear()
                self.together(STORE, size=4, hosts=hosts, TRAINYARD_CHECKPOINT_ROOT=root)
                uuid = self.only()
                want = {f"shards/{rank}.bin": bytes([rank]) * 100_000 for rank in range(4)}
                self.assertEqual(tree(self.platform.storage / uuid), {**want, "model": b"whole"})
                stored = self.platform.checkpoints[uuid]
                self.assertEqual(stored["stepsCompleted"], 7)
                metadata = without_versions(stored["metadata"])
                self.assertEqual(metadata, {"steps_completed": 7, "rank": "some"})
                self.assertEqual(tree(self.folder / "copy-3"), tree(self.folder / "copy-0"))

    def test_shards_are_stored_in_local_mode(self):
        script = """
            with trainyard.init(distributed=together) as ctx:
                with ctx.checkpoint.store_path({"steps_completed": 1}, shard=True) as (path, uuid):
                    (path / f"{rank}").touch()
                with ctx.checkpoint.restore_path(uuid) as path:
                    print(sorted(p.name for p in path.iterdir()))
            """
        env = {"TRAINYARD_TRIAL_ID": "", "TRAINYARD_LOCAL_DIR": str(self.folder / "local")}
        out, _ = self.together(script, **env)
        self.assertEqual(out, ["['0', '1', '2', 'metadata.json']\n"] * 3)

    def test_a_sharded_upload_accepts_a_rank_without_files(self):
        script = """
            with trainyard.init(distributed=together) as ctx:
                os.makedirs(f"source-{rank}")
                open(f"source-{rank}/{rank}", "w").close()
                open(f"source-{rank}/skip", "w").close()
                source = None if rank == 1 else f"source-{rank}"
                ctx.checkpoint.upload(source, {"steps_completed": 1}, shard=True,
                                      selector=lambda path: path != "skip")
            """
        self.together(script)
        self.assertEqual(tree(self.platform.storage / self.only()), {"0": b"", "2": b""})

    def test_a_file_name_that_two_ranks_use_is_refused(self):
        for names in ("'model'", "'a/b' if rank == 2 else f'{rank}' if rank == 0 else 'a'"):
            script = f"""
                from pathlib import Path
                with trainyard.init(distributed=together) as ctx:
                    try:
                        with ctx.checkpoint.store_path({{"steps_completed": 1}}, shard=True) as (path, _):
                            file = path / ({names})
                            file.parent.mkdir(exist_ok=True)
                            file.write_text("x")
                    except (ValueError, trainyard.CheckpointError) as error:
                        print(error)
                """
            out, _ = self.together(script)
            for text in out:
                self.assertRegex(
                    text, "ranks [01] and [12] both store '(model|a)': name files after"
                )
            self.assert_nothing_is_left()

    def test_an_error_on_one_rank_is_raised_on_all_ranks(self):
        script = """
            with trainyard.init(distributed=together) as ctx:
                try:
                    with ctx.checkpoint.store_path({"steps_completed": 1}, shard=True) as (path, _):
                        if rank == 1:
                            raise OSError("the disk is full")
                        (path / f"{rank}").write_text("x")
                except (OSError, trainyard.CheckpointError) as error:
                    print(type(error).__name__, error)
                try:
                    with ctx.checkpoint.store_path({"a": rank}, shard=True):
                        print("never")
                except (ValueError, trainyard.CheckpointError) as error:
                    print(error)
            """
        out, _ = self.together(script)
        self.assertTrue(out[1].startswith("OSError the disk is full"), out)
        for rank in (0, 2):
            self.assertIn("CheckpointError the checkpoint could not be stored: rank 1:", out[rank])
        for text in out:
            self.assertIn("ranks 0 and 1 give different metadata 'a'", text)
        self.assert_nothing_is_left()

    def test_a_refusal_of_the_platform_is_raised_on_all_ranks(self):
        self.platform.faults = lambda request: (
            problem(400, "invalid_checkpoint", "because")
            if request.path.endswith("checkpoints")
            else None
        )
        script = """
            with trainyard.init(distributed=together) as ctx:
                try:
                    with ctx.checkpoint.store_path({"steps_completed": 1}, shard=True) as (path, _):
                        pass
                except trainyard.CheckpointError as error:
                    print(error)
            """
        out, _ = self.together(script)
        self.assertTrue(all("because" in text for text in out), out)

    def test_a_rank_killed_while_storing_leaves_no_checkpoint(self):
        script = """
            with trainyard.init(distributed=together) as ctx:
                with ctx.checkpoint.store_path({"steps_completed": 1}, shard=True) as (path, _):
                    (path / f"{rank}").write_text("x")
                    if rank == 1:
                        os.kill(os.getpid(), signal.SIGKILL)
            """
        self.together(script, [1, -signal.SIGKILL, 1])
        self.assert_nothing_is_left()
        self.assertRegex(self.end()["message"], "DistributedError: rank 1")

    def test_upload_on_a_worker_without_shard_raises(self):
        script = """
            with trainyard.init(distributed=together) as ctx:
                if rank == 1:
                    try:
                        ctx.checkpoint.upload(".", {"steps_completed": 1})
                    except RuntimeError as error:
                        print(error)
            """
        out, _ = self.together(script)
        self.assertIn("call it on rank 0 only, or on every rank with shard=True", out[1])

    def test_a_failed_read_raises_on_all_ranks_of_a_host(self):
        script = """
            with trainyard.init(distributed=together) as ctx:
                try:
                    with ctx.checkpoint.restore_path("none"):
                        pass
                except trainyard.CheckpointError as error:
                    print(error)
            """
        out, _ = self.together(script)
        self.assertTrue(all("there is no complete checkpoint none" in text for text in out), out)

    def test_ranks_store_shards_in_the_background(self):
        script = """
            from pathlib import Path
            with trainyard.init(distributed=together) as ctx:
                def write(step):
                    return lambda path: (path / f"{rank}-{step}").write_text("x")
                for step in range(1, 5):
                    stored = ctx.checkpoint.store_in_background(
                        write(step), {"steps_completed": step}, shard=True)
                    # The ranks exchange other values at the same time.
                    assert together.allgather(stored.uuid) == [stored.uuid] * together.size
            """
        for hosts in (1, 2):
            self.platform.checkpoints.clear()
            self.together(script, size=4, hosts=hosts)
            found = list(self.platform.checkpoints.values())
            self.assertEqual([c["stepsCompleted"] for c in found], [1, 2, 3, 4])
            for checkpoint in found:
                step = checkpoint["stepsCompleted"]
                names = sorted(entry["path"] for entry in checkpoint["manifest"])
                self.assertEqual(names, [*(f"{rank}-{step}" for rank in range(4)), "metadata.json"])


class Background(CheckpointCase):
    def test_background_checkpoints_do_not_block_and_keep_their_order(self):
        begun, go_on = threading.Event(), threading.Event()

        def write(path):
            begun.set()
            go_on.wait(120)
            (path / "model").write_text("1")

        first = self.checkpoint.store_in_background(write, {"steps_completed": 1})
        begun.wait(120)
        second = self.checkpoint.store_in_background(
            lambda path: (path / "model").write_text("2"), {"steps_completed": 2}
        )
        self.assertFalse(first.done())
        self.assertFalse(second.wait(0.01))
        go_on.set()
        third = self.store(model="3")
        self.assertTrue(first.done() and second.done())
        self.assertEqual(self.completed(), [first.uuid, second.uuid, third])
        self.assertEqual(tree(self.storage / first.uuid), {"model": b"1"})

    def test_an_error_of_a_background_checkpoint_is_raised_once(self):
        def fail(path):
            raise KeyError("layer")

        self.checkpoint.store_in_background(fail, {"steps_completed": 1})
        with self.assertRaises(KeyError):
            self.store(a="1")
        self.store(a="1")
        stored = self.checkpoint.store_in_background(fail, {"steps_completed": 1})
        with self.assertRaises(KeyError):
            stored.wait()
        self.store(a="1")
        self.assertEqual(self.left(), [])

    def test_invalid_metadata_of_a_background_checkpoint_raises_at_the_call(self):
        with self.assertRaisesRegex(ValueError, "steps_completed"):
            self.checkpoint.store_in_background(lambda path: None, {})

    def test_a_third_background_checkpoint_waits_for_the_first(self):
        go_on = threading.Event()
        for _ in range(2):
            self.checkpoint.store_in_background(
                lambda path: go_on.wait(120), {"steps_completed": 1}
            )
        threading.Timer(0.2, go_on.set).start()
        self.checkpoint.store_in_background(lambda path: None, {"steps_completed": 1})
        self.assertTrue(go_on.is_set())
        background_of(self.checkpoint).drain()


class BackgroundWithoutRoot(Background):
    spooled = False


class TheEnd(ShardCase):
    def test_the_run_ends_after_its_background_checkpoints(self):
        self.run_script(
            """
            import trainyard
            def write(path):
                (path / "model").write_bytes(bytes(20_000_000))
            with trainyard.init() as ctx:
                for step in (1, 2):
                    ctx.checkpoint.store_in_background(write, {"steps_completed": step})
            """
        )
        self.assertEqual(len(self.platform.checkpoints), 2)
        self.assertTrue(all("manifest" in c for c in self.platform.checkpoints.values()))
        self.assert_end("FINISHED")

    def test_an_error_of_a_background_checkpoint_fails_the_run(self):
        _, err = self.run_script(
            """
            import trainyard
            def write(path):
                raise OSError("the disk is full")
            with trainyard.init() as ctx:
                ctx.checkpoint.store_in_background(write, {"steps_completed": 1})
            """,
            code=1,
        )
        self.assertIn("the disk is full", err)
        self.assert_end("ERROR", "OSError: the disk is full")
        self.assertEqual([path.name for path in Path(self.platform.storage).iterdir()], [NAME])

    def test_a_started_background_checkpoint_is_stored_before_an_error_ends_the_run(self):
        self.run_script(
            """
            import trainyard
            with trainyard.init() as ctx:
                ctx.checkpoint.store_in_background(lambda path: None, {"steps_completed": 1})
                raise ValueError("boom")
            """,
            code=1,
        )
        self.assertEqual(len(self.platform.checkpoints), 1)
        self.assert_end("ERROR", "boom")


if __name__ == "__main__":
    unittest.main()
