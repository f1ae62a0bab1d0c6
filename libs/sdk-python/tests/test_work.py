"""Saves of a task's folder: what was packed is what is unpacked."""

import io
import json
import os
import random
import shutil
import tarfile
import unittest
from unittest import mock

from work_folders import Folders, all_bytes, draw_tree, files_below, in_fork, settle, tree_of

from trainyard._work import FORMAT, _units
from trainyard._work._unpack import BeyondLimitsError, Limits, MalformedError, is_save, unpack
from trainyard.errors import CheckpointError

TREES = 40


class Kept(Folders):
    def test_drawn_trees_are_equal_after_a_save(self):
        for seed in range(TREES):
            with self.subTest(seed=seed):
                self.work, saves = self.base / f"tree-{seed}", self.base / f"saves-{seed}"
                self.work.mkdir()
                saves.mkdir()
                draw_tree(random.Random(seed), os.fsencode(self.work), depth=4)
                before = tree_of(self.work)
                result, folder = self.saved(saves=str(saves))
                self.assertEqual(result["leftOut"], [])
                self.assertEqual(tree_of(self.work), before)
                self.assertEqual(tree_of(self.unpacked(folder)), before)

    def test_a_tree_that_changes_between_saves_is_equal_after_each(self):
        self.age()
        for seed in range(8):
            rng = random.Random(seed)
            draw_tree(rng, os.fsencode(self.work), depth=3)
            (self.work / "seed").write_text(str(seed))
            result, folder = self.saved(store="s3://bucket/prefix")
            self.assertEqual(result["kind"], "saved")
            self.assertEqual(tree_of(self.unpacked(folder)), tree_of(self.work))
            settle(self.base, folder.name)

    def test_an_empty_folder_is_saved(self):
        _, folder = self.saved()
        self.assertTrue(is_save(folder))
        self.assertEqual(tree_of(self.unpacked(folder)), {})

    def test_names_that_are_not_text_are_kept(self):
        names = [b"\xff\xfe", b"line\nbreak", b"a\\b", b"100%", "ü".encode(), b"=x= y", b"n" * 255]
        for name in names:
            (write, size) = (os.path.join(os.fsencode(self.work), name), 5000)
            with open(write, "wb") as file:
                file.write(bytes(size))
            os.makedirs(os.path.join(os.fsencode(self.work), b"in", name))
        _, folder = self.saved()
        self.assertEqual(tree_of(self.unpacked(folder)), tree_of(self.work))
        for path in files_below(folder):
            path.encode("utf-8")
            self.assertTrue(path.isprintable())

    def test_caches_and_ignored_files_stay_out(self):
        for path in (
            ".cache/pip/x",
            "a/__pycache__/m.pyc",
            ".ipynb_checkpoints/n",
            "data/big",
            "keep/x",
        ):
            (self.work / path).parent.mkdir(parents=True, exist_ok=True)
            (self.work / path).write_text("x")
        (self.work / ".git").mkdir()
        (self.work / ".trainyardignore").write_text("data/\n")
        _, folder = self.saved()
        found = {path for path, entry in tree_of(self.unpacked(folder)).items()}
        expected = {b".git", b".trainyardignore", b"a", b"keep", b"keep/x"}
        self.assertEqual(found, expected)

    def test_links_are_kept_as_links_and_lead_nowhere(self):
        secret = self.base / "secret"
        secret.mkdir()
        (secret / "key").write_text("do not save")
        (self.work / "out").symlink_to(secret)
        (self.work / "file").symlink_to(secret / "key")
        _, folder = self.saved()
        self.assertEqual(os.readlink(self.unpacked(folder) / "out"), str(secret))
        self.assertNotIn(b"do not save", all_bytes(folder))

    def test_special_files_are_left_out_with_a_sentence(self):
        os.mkfifo(self.work / "pipe")
        result, folder = self.saved()
        self.assertEqual(result["leftOut"], ["pipe is neither a file, a folder nor a link"])
        self.assertEqual(tree_of(self.unpacked(folder)), {})

    def test_more_large_files_than_a_checkpoint_takes_are_archived(self):
        for number in range(8):
            (self.work / f"{number}.bin").write_bytes(os.urandom(5000))
        with mock.patch.object(_units, "LARGE_FILES_MAX", 5):
            _, folder = self.saved()
        self.assertEqual(len(list((folder / "files").iterdir())), 5)
        self.assertEqual(tree_of(self.unpacked(folder)), tree_of(self.work))

    def test_a_sparse_file_keeps_its_holes_and_counts_with_its_length(self):
        with open(self.work / "sparse", "wb") as file:
            file.truncate(1 << 28)
        _, folder = self.saved()
        self.assertLess((folder / "files/sparse").stat().st_blocks * 512, 1 << 20)
        result, _ = self.saved(bytes_max=(1 << 28) - 1)
        self.assertEqual(result["kind"], "too_large")
        self.assertIn("268,435,456 bytes", result["why"])


class Unreadable(Folders):
    @unittest.skipIf(os.geteuid() == 0 and not hasattr(os, "fork"), "needs another user")
    def test_unreadable_files_of_the_owner_are_saved_with_their_modes(self):
        (self.work / "closed").mkdir()
        (self.work / "closed" / "x").write_text("inside")
        (self.work / "secret").write_text("hidden")
        (self.work / "large").write_bytes(bytes(5000))
        for path in ("closed/x", "secret", "large", "closed"):
            os.chmod(self.work / path, 0)
        os.chmod(self.base, 0o777)
        for path in (self.base, self.base / "saves", self.work):
            os.chmod(path, 0o777)
        if os.geteuid() == 0:
            for path in (self.work, *self.work.rglob("*")):
                os.chown(path, 12345, 12345)
        before = tree_of(self.work)
        result = in_fork(12345, lambda: self.saved()[0])
        self.assertEqual(result["leftOut"], [])
        self.assertEqual(tree_of(self.work), before)
        self.assertEqual(tree_of(self.unpacked(self.base / "store" / "save-1")), before)


class Limited(Folders):
    def test_a_folder_beyond_its_limits_is_not_saved(self):
        for number in range(5):
            (self.work / str(number)).write_bytes(bytes(100))
        result, folder = self.saved(files_max=4)
        why = "it has more than 4 files, the most that are saved"
        self.assertEqual(result, {"kind": "too_large", "why": why})
        self.assertFalse(folder.exists())
        result, _ = self.saved(bytes_max=499)
        why = "it has 500 bytes, and at most 499 are saved"
        self.assertEqual(result, {"kind": "too_large", "why": why})


class Hostile(Folders):
    def crafted(self, members, large=()):
        folder = self.base / "crafted"
        folder.mkdir()
        with tarfile.open(folder / "small-1.tar", "w") as archive:
            for info, content in members:
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
        described = {"format": FORMAT, "archives": ["small-1.tar"], "large": list(large)}
        (folder / "work.json").write_text(json.dumps(described))
        return folder

    def refused(self, folder):
        target = self.base / "target"
        target.mkdir()
        with self.assertRaises((CheckpointError, OSError)):
            unpack(folder, target)
        self.assertFalse((self.base / "out").exists())
        self.assertEqual(list(self.work.iterdir()), [])

    def test_a_path_outside_is_refused(self):
        self.refused(self.crafted([(tarfile.TarInfo("../out"), b"x")]))

    def test_an_absolute_path_is_refused(self):
        self.refused(self.crafted([(tarfile.TarInfo(str(self.base / "out")), b"x")]))

    def test_a_file_through_a_link_is_refused(self):
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, str(self.work)
        self.refused(self.crafted([(link, b""), (tarfile.TarInfo("link/x"), b"x")]))

    def test_a_link_is_not_written_through(self):
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, str(self.base / "out")
        self.refused(self.crafted([(link, b""), (tarfile.TarInfo("link"), b"x")]))

    def test_a_folder_in_place_of_a_link_does_not_change_what_the_link_names(self):
        link, folder = tarfile.TarInfo("link"), tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, str(self.work)
        folder.type, folder.mode = tarfile.DIRTYPE, 0o777
        before = self.work.stat().st_mode
        self.refused(self.crafted([(link, b""), (folder, b"")]))
        self.assertEqual(self.work.stat().st_mode, before)

    def test_a_device_is_refused(self):
        device = tarfile.TarInfo("device")
        device.type = tarfile.CHRTYPE
        self.refused(self.crafted([(device, b"")]))

    def test_a_large_file_outside_is_refused(self):
        large = {"path": "x", "file": "../../etc/hostname", "mode": 0o644, "mtime": 0}
        self.refused(self.crafted([], [large]))

    def test_entries_beyond_the_limit_are_not_unpacked(self):
        members = [(tarfile.TarInfo(f"{number}/x"), b"") for number in range(2000)]
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        target = self.base / "target"
        target.mkdir()
        with self.assertRaisesRegex(BeyondLimitsError, "more than 100 files"):
            unpack(
                self.crafted([(folder, b"")] * 100 + members),
                target,
                limits=Limits(1 << 20, 100),
            )
        self.assertEqual(os.listdir(target), ["folder"])

    def test_sizes_beyond_the_limit_are_not_written(self):
        for size, error in ((1 << 40, BeyondLimitsError), (-(1 << 40), MalformedError)):
            archive = self.crafted([]) / "small-1.tar"
            member = tarfile.TarInfo("giant")
            member.size = size
            # A hole in the archive is as large.
            archive.write_bytes(member.tobuf(tarfile.GNU_FORMAT))
            os.truncate(archive, 1 << 41)
            target = self.base / f"target{size}"
            target.mkdir()
            with self.assertRaises(error):
                unpack(archive.parent, target, limits=Limits(1 << 30, 100))
            self.assertEqual(os.listdir(target), [])
            shutil.rmtree(archive.parent)

    def test_headers_beyond_their_limit_are_not_read(self):
        for kind in (tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_SPARSE):
            archive = self.crafted([]) / "small-1.tar"
            header = tarfile.TarInfo("header")
            header.type, header.size = kind, 1 << 40
            archive.write_bytes(header.tobuf(tarfile.GNU_FORMAT))
            os.truncate(archive, 1 << 41)
            self.refused(archive.parent)
            shutil.rmtree(archive.parent)
            shutil.rmtree(self.base / "target")

    def test_an_entry_that_no_packing_writes_is_malformed(self):
        broken = tarfile.TarInfo("x")
        broken.pax_headers = {"size": "many"}
        late = tarfile.TarInfo("x")
        late.mtime = 1 << 80
        for member in (broken, late):
            folder = self.crafted([])
            text = member.tobuf(tarfile.PAX_FORMAT if member is broken else tarfile.GNU_FORMAT)
            (folder / "small-1.tar").write_bytes(text)
            target = self.base / "target"
            target.mkdir()
            with self.assertRaises(MalformedError):
                unpack(folder, target)
            shutil.rmtree(folder)
            shutil.rmtree(target)

    def test_a_description_of_more_files_than_a_checkpoint_has_is_malformed(self):
        folder = self.crafted([])
        described = json.loads((folder / "work.json").read_bytes())
        described["archives"] *= 6000
        (folder / "work.json").write_text(json.dumps(described))
        self.refused(folder)

    def test_a_folder_without_a_description_is_no_save(self):
        self.assertFalse(is_save(self.work))


if __name__ == "__main__":
    unittest.main()
