"""A run that finds a checkpoint damaged reports it before it raises."""

from __future__ import annotations

from unittest import mock

from fake_platform import RESET, Answer, problem
from test_checkpoint import CheckpointCase
from test_checkpoint_shards import ShardCase

import trainyard
from trainyard import _storage
from trainyard._checkpoint import CheckpointContext, _damage


class Damage(CheckpointCase):
    def test_damage_is_reported_before_it_is_raised_with_the_platforms_finding(self):
        uuid = self.store(a="12345")
        folder = self.storage / uuid

        def restore():
            with self.checkpoint.restore_path(uuid):
                self.fail("a damaged checkpoint was restored")

        (folder / "a").write_text("123")
        for answers, finding in (
            ([{"done": True, "damaged": True}], "the platform finds the same, and no later run"),
            ([{}, {}, {"done": True}], "the platform finds it intact, .* check the mount"),
            ([503, RESET, {"done": True, "damaged": True}], "the platform finds the same"),
            ([409], "the platform does not check it .because"),
        ):
            left = list(answers)

            def faults(request, left=left):
                if not request.path.endswith("/damaged"):
                    return None
                answer = left.pop(0)
                if answer in (409, 503):
                    return problem(answer, "code", "because")
                return Answer(200, (), answer) if isinstance(answer, dict) else answer

            self.platform.faults = faults
            with mock.patch.object(_damage, "CHECKPOINT_BACKOFF_FIRST_S", 0.01):
                with self.assertRaisesRegex(trainyard.CheckpointError, f"3 bytes .*: {finding}"):
                    restore()
            self.assertEqual(left, [])
        self.platform.faults = lambda request: None
        folder.rename(self.storage / "elsewhere")
        with self.assertRaisesRegex(trainyard.CheckpointError, "does not exist on this machine"):
            restore()
        self.assertEqual([reported for reported, _ in self.platform.damages], [uuid])

    def test_a_report_that_the_platform_cannot_check_ends_after_a_while(self):
        uuid = self.store(a="12345")
        (self.storage / uuid / "a").unlink()
        self.platform.faults = lambda request: (
            problem(503, "storage_unreadable", "is it mounted?")
            if request.path.endswith("/damaged")
            else None
        )
        with mock.patch.object(_damage, "CHECKPOINT_DEFECT_S", 0.1):
            with self.assertRaisesRegex(
                trainyard.CheckpointError, "a is missing: the platform cannot check it now"
            ):
                self.checkpoint.download(uuid, self.folder / "copy")

    def test_a_load_that_fails_has_the_files_compared_and_a_changed_one_reported(self):
        uuid = self.store(a="12345")
        with self.assertRaisesRegex(ValueError, "not a model"):
            with self.checkpoint.restore_path(uuid):
                raise ValueError("not a model")
        self.assertEqual(self.platform.damages, [])
        (self.storage / uuid / "a").write_text("1234X")
        with self.assertRaises(trainyard.InvalidHP):
            with self.checkpoint.restore_path(uuid):
                raise trainyard.InvalidHP
        self.assertEqual(self.platform.damages, [])
        with self.assertRaisesRegex(trainyard.CheckpointError, "its content differs"):
            with self.checkpoint.restore_path(uuid):
                raise ValueError("not a model")
        self.assertEqual(len(self.platform.damages), 1)

    def test_a_comparison_that_fails_is_logged_and_the_scripts_error_is_raised(self):
        uuid = self.store(a="12345")
        failing = mock.patch.object(_storage, "check_contents", side_effect=OSError("stale handle"))
        with failing, self.assertLogs("trainyard", "WARNING") as logs:
            with self.assertRaisesRegex(ValueError, "not a model"):
                with self.checkpoint.restore_path(uuid):
                    raise ValueError("not a model")
        self.assertRegex("".join(logs.output), f"{uuid} could not be compared: stale handle")
        self.assertEqual(self.platform.damages, [])

    def test_an_error_after_the_training_has_begun_reads_no_files(self):
        uuid = self.store(a="12345")
        reports = [0]
        checkpoint = CheckpointContext(self.open_store(), None, lambda: reports[0])

        def report():
            reports[0] += 1

        def store():
            with checkpoint.store_path({"steps_completed": 2}):
                pass

        (self.storage / uuid / "a").write_text("1234X")
        for begin in (report, store):
            with self.assertRaisesRegex(ValueError, "out of memory"):
                with checkpoint.restore_path(uuid):
                    begin()
                    raise ValueError("out of memory")
        self.assertEqual(self.platform.damages, [])


class DamageTogether(ShardCase):
    def test_a_changed_file_that_only_one_rank_reads_is_reported_by_that_rank(self):
        script = """
            with trainyard.init(distributed=together) as ctx:
                with ctx.checkpoint.store_path({"steps_completed": 1}, shard=True) as (path, uuid):
                    (path / f"{rank}.bin").write_text("12345")
                if rank == 0:
                    with ctx.checkpoint.restore_path(uuid, trainyard.DownloadMode.NoSharedDownload) as path:
                        (path / "1.bin").write_text("1234X")
                together.barrier()
                try:
                    with ctx.checkpoint.restore_path(uuid):
                        ctx.train.report_progress(0.5)
                        raise KeyError("the training has begun")
                except KeyError:
                    pass
                with ctx.checkpoint.restore_path(uuid) as path:
                    if rank == 1:
                        raise ValueError((path / "1.bin").read_text())
                    together.barrier()
            """
        self.together(script, [1, 1, 1])
        ((uuid, damage),) = self.platform.damages
        self.assertEqual(uuid, self.only())
        self.assertRegex(damage, "1.bin has 5 bytes, and its content differs")
