"""Saves and restores in a storage whose files others replace meanwhile, as a container that mounts the storage can."""

import contextlib
import os
import shutil
import unittest
from unittest import mock

from work_folders import Folders, files_below, in_fork, tree_of

from trainyard import _storage
from trainyard._work import _pack, _restore, _unpack
from trainyard._work._save import save


def before(name, number, change):
    """Calls ``change`` once, before that call of a function of the packing."""
    real, count = getattr(_pack, name), 0

    def called(*arguments):
        nonlocal count
        count += 1
        if count == number:
            change()
        return real(*arguments)

    return mock.patch.object(_pack, name, called)


def before_read(number, change):
    return before("opened_file", number, change)


def before_file(number, change):
    return before("_linked", number, change)


_STEPS = ("open", "link", "mkdir", "unlink", "rmdir", "fwalk", "stat")


@contextlib.contextmanager
def at_step(step, change):
    """Calls ``change`` once, before that call of the system."""
    calls = 0

    def counted(real):
        def call(*arguments, **named):
            nonlocal calls
            calls += 1
            if calls == step:
                change()
            return real(*arguments, **named)

        return call

    # Nothing here needs to be on the disk.
    reals = {name: getattr(os, name) for name in _STEPS} | {"fsync": lambda fd: None}
    with contextlib.ExitStack() as stack:
        for name, real in reals.items():
            stack.enter_context(mock.patch.object(os, name, counted(real)))
        yield lambda: calls >= step


class Replaced(Folders):
    def setUp(self):
        super().setUp()
        self.outside = self.base / "outside"
        self.outside.mkdir()
        self.store = self.base / "store"
        self.large = b"large" * 1000
        (self.work / "small").write_text("small")
        for name in ("a", "b"):
            (self.work / "in" / name).mkdir(parents=True)
            (self.work / "in" / name / "x").write_bytes(self.large)

    def swap(self, path):
        """Puts a link to the folder outside in the place of a path."""
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(f"{path}.old", ignore_errors=True)
            with contextlib.suppress(FileNotFoundError):
                os.rename(path, f"{path}.old")
            path.symlink_to(self.outside)

    def fails(self, **changes):
        order = self.order(**changes)
        with self.assertRaises(OSError):
            save(order)
        self.assertEqual(files_below(self.outside), [])
        record = self.base / "saves/spool/checkpoints" / f"{order.checkpoint}.json"
        self.assertFalse(record.exists())

    def test_the_folder_of_a_save_becomes_a_link(self):
        for number in (1, 2, 3):
            with self.subTest(before=number):
                target = self.store / f"save-{self.count + 1}"
                with before_read(number, lambda: self.swap(target)):
                    self.fails()

    def test_the_folder_of_a_save_is_another_one_at_its_end(self):
        target = self.store / "save-1"

        def replace():
            os.rename(target, f"{target}.old")
            target.mkdir()

        with before_read(3, replace):
            self.fails()
        self.assertEqual(files_below(target), [])

    def test_a_folder_inside_becomes_a_link(self):
        for below in ("files", "files/in", "files/in/b"):
            with self.subTest(below=below):
                target = self.store / f"save-{self.count + 1}"

                def change(path=target / below):
                    path.parent.mkdir(parents=True, exist_ok=True)
                    self.swap(path)

                with before_file(3, change):
                    self.fails()

    def test_a_folder_inside_becomes_a_link_while_a_file_in_it_is_written(self):
        target = self.store / "save-1"
        with before_read(3, lambda: self.swap(target / "files/in/b")):
            self.saved()
        self.assertEqual(files_below(self.outside), [])
        self.assertEqual((target / "files/in/b.old/x").read_bytes(), self.large)

    def test_a_link_lies_where_a_file_is_written(self):
        for name in ("small-1.tar", "files/in/b/x", "work.json"):
            with self.subTest(name=name):
                target = self.store / f"save-{self.count + 1}"

                def change(path=target / name):
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.unlink(missing_ok=True)
                    path.symlink_to(self.outside / "written")

                with mock.patch.object(_pack, "_linked", side_effect=lambda *_: change()):
                    self.fails()

    def test_the_folder_of_all_saves_becomes_a_link(self):
        # Only the folder above it is one that the agent's operator has made.
        root = self.store / "team"
        self.store.mkdir()
        root.symlink_to(self.outside)
        self.fails(root=str(root), trusted=str(self.store))
        root.unlink()
        with before_read(3, lambda: self.swap(root)):
            save(self.order(root=str(root), trusted=str(self.store)))
        self.assertEqual(files_below(self.outside), [])

    def test_an_operators_links_are_followed(self):
        (self.base / "disk").mkdir()
        self.store.symlink_to(self.base / "disk")
        _, folder = self.saved(root=str(self.store / "team"), trusted=str(self.store))
        self.assertEqual(tree_of(self.unpacked(folder)), tree_of(self.work))

    @unittest.skipUnless(os.geteuid() == 0, "needs another user")
    def test_a_storage_that_its_users_cannot_list_is_enough(self):
        for path, mode in ((self.base, 0o711), (self.store, 0o711), (self.store / "team", 0o777)):
            path.mkdir(exist_ok=True)
            os.chmod(path, mode)
        os.chmod(self.base / "saves", 0o777)
        order = self.order(root=str(self.store / "team"), trusted=str(self.store))
        self.assertEqual(in_fork(12345, lambda: save(order))["kind"], "saved")

    def test_no_file_outside_becomes_one_of_the_next_save(self):
        self.age()
        secret = self.outside / "in/a/x"
        secret.parent.mkdir(parents=True)
        secret.write_bytes(b"other" * 1000)
        _, first = self.saved()
        os.rename(first / "files", first / "old")
        (first / "files").symlink_to(self.outside)
        (self.work / "small").write_text("changed")
        _, second = self.saved()
        self.assertEqual(secret.stat().st_nlink, 1)
        self.assertEqual(tree_of(self.unpacked(second)), tree_of(self.work))

    def test_no_link_becomes_a_file_of_the_next_save(self):
        self.age()
        _, first = self.saved()
        (first / "files/in/a/x").unlink()
        (first / "files/in/a/x").symlink_to(self.outside)
        (self.work / "small").write_text("changed")
        _, second = self.saved()
        self.assertEqual(tree_of(self.unpacked(second)), tree_of(self.work))

    def test_the_removal_after_a_failure_leads_nowhere(self):
        (self.outside / "x").write_text("stays")
        target = self.store / "save-1"

        def change():
            (target / "files").mkdir(exist_ok=True)
            self.swap(target / "files/in")
            raise OSError(28, "No space left on device")

        with before_read(2, change), self.assertRaises(OSError):
            self.saved()
        self.assertFalse(target.exists())
        self.assertEqual(files_below(self.outside), ["x"])

    def test_a_link_at_any_step_leads_nowhere(self):
        (self.outside / "kept").write_text("stays")
        root, ends = self.store / "team", set()
        for below in ("", "{save}", "{save}/files", "{save}/files/in", "{save}/files/in/a"):
            step = 0
            while True:
                step += 1
                (self.work / "small").write_text(f"{below}{step}")
                order = self.order(root=str(root), trusted=str(self.store))
                path = root / below.format(save=order.checkpoint)
                is_done = contextlib.suppress(OSError)
                with at_step(step, lambda path=path: self.swap(path)) as is_swapped, is_done:
                    save(order)
                    ends.add("saved")
                if not (self.base / f"saves/spool/checkpoints/{order.checkpoint}.json").exists():
                    ends.add("failed")
                self.assertEqual(os.listdir(self.outside), ["kept"], (below, step))
                if path.is_symlink():
                    path.unlink()
                if not is_swapped():
                    break
            self.assertGreater(step, 30)
        self.assertEqual(ends, {"saved", "failed"})


class Restored(Folders):
    """A save is restored while somebody replaces its files."""

    def setUp(self):
        super().setUp()
        self.outside = self.base / "outside"
        self.outside.mkdir()
        (self.work / "large").write_bytes(b"x" * 5000)
        (self.work / "small").write_text("small")
        _, self.save = self.saved()
        manifest = [_storage.entry_of_file(self.save, path) for path in files_below(self.save)]
        self.plan = _storage.Plan(self.save, manifest, {})
        self.target = self.base / "target"
        self.target.mkdir()

    def restore(self, bytes_max=10_000, files_max=2):
        fetched = str(self.base / "fetched")
        order = ("", "", "t12#2", self.save.name, fetched, str(self.target), bytes_max, files_max)
        store = mock.Mock(plan=mock.Mock(return_value=self.plan))
        with mock.patch.object(_restore, "RemoteStore", return_value=store):
            _restore.restore(_restore.Order(*order))

    def fails(self, kind, why, **limits):
        with self.assertRaisesRegex(kind, why):
            self.restore(**limits)
        self.assertEqual(list(self.target.iterdir()), [])
        self.assertFalse((self.base / "fetched").exists())

    def test_a_save_within_its_limits_is_restored(self):
        self.restore(bytes_max=5005)
        self.assertEqual(tree_of(self.target), tree_of(self.work))

    def test_a_save_beyond_the_limits_is_not(self):
        beyond = _unpack.BeyondLimitsError
        self.fails(beyond, "it has more than 1 files, the most that are restored", files_max=1)
        self.fails(beyond, "it has more than 5,004 bytes, the most that are", bytes_max=5004)

    def test_a_manifest_beyond_the_limits_is_not_read(self):
        self.plan.manifest.append(_storage.FileEntry("files/sparse", 1 << 50, ""))
        why = "bytes, and at most 10,000 are restored"
        with mock.patch.object(_restore, "copy_out", side_effect=AssertionError):
            self.fails(_unpack.BeyondLimitsError, why)

    def test_nothing_but_a_file_is_read(self):
        path = self.save / "files/large"
        for put in (
            lambda: path.symlink_to(self.work / "large"),
            lambda: path.symlink_to("/dev/zero"),
            lambda: os.mkfifo(path),
            path.mkdir,
        ):
            path.unlink()
            put()
            self.fails(_storage.DamagedError, "files/large is missing")
            path.rmdir() if path.is_dir() else path.unlink()
            path.touch()

    def test_no_folder_is_entered_through_a_link(self):
        os.rename(self.save / "files", self.base / "files")
        (self.save / "files").symlink_to(self.base / "files")
        self.fails(_storage.DamagedError, "files/large is missing")
        os.rename(self.save, self.base / "other")
        self.save.symlink_to(self.base / "other")
        self.fails(_storage.DamagedError, "is no folder")

    def test_a_file_that_has_become_endless_is_not_read_to_its_end(self):
        with open(self.save / "files/large", "ab") as file:
            file.truncate(1 << 42)
        self.fails(_storage.DamagedError, "has 4398046511104 bytes")


if __name__ == "__main__":
    unittest.main()
