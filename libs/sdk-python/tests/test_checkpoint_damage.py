"""A run that finds a checkpoint damaged reports it before it raises."""

from __future__ import annotations

from unittest import mock

from fake_platform import RESET, Answer, problem
from test_checkpoint import CheckpointCase

import trainyard
from trainyard._checkpoint import _damage


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
