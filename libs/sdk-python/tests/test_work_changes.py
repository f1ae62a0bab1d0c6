"""Saves of a task's folder that changes between saves and during one, and saves that are killed."""

import contextlib
import errno
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

from work_folders import Folders, all_bytes, changing, killed_at, settle, tree_of

from trainyard._work import FORMAT, _pack
from trainyard._work._save import save
from trainyard._work._unpack import unpack

SRC = Path(__file__).resolve().parents[1] / "src"


class Changing(Folders):
    def test_a_file_that_changes_while_it_is_read_is_read_again(self):
        for name in ("small", "large"):
            (self.work / name).write_bytes(b"a" * (100 if name == "small" else 5000))
        changes = []

        def change(path):
            if len([one for one in changes if one == path]) < 2:
                changes.append(path)
                with open(self.work / os.fsdecode(path), "ab") as file:
                    file.write(b"more")

        with changing(change):
            result, folder = self.saved()
        self.assertEqual(result["leftOut"], [])
        self.assertEqual(tree_of(self.unpacked(folder)), tree_of(self.work))

    def test_a_file_that_always_changes_is_taken_as_it_is(self):
        for name in ("small", "large"):
            (self.work / name).write_bytes(b"a" * (100 if name == "small" else 5000))

        def change(path):
            with open(self.work / os.fsdecode(path), "ab") as file:
                file.write(b"more")

        with changing(change):
            result, folder = self.saved()
        said = "changed while it was read, and is saved as it was"
        self.assertEqual(sorted(result["leftOut"]), [f"large {said}", f"small {said}"])
        back = self.unpacked(folder)
        for name, size in (("small", 100), ("large", 5000)):
            self.assertTrue((back / name).read_bytes().startswith(b"a" * size))

    def test_a_file_that_shrinks_or_goes_while_it_is_read_leaves_a_whole_archive(self):
        for name in ("shrinks", "stays", "goes"):
            (self.work / name).write_bytes(b"a" * 1000)

        def change(path):
            if path == b"shrinks":
                os.truncate(self.work / "shrinks", 10)
            if path == b"goes":
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(self.work / "goes")

        with changing(change, before_read=True):
            _, folder = self.saved()
        back = self.unpacked(folder)
        self.assertEqual((back / "stays").read_bytes(), b"a" * 1000)
        self.assertEqual((back / "shrinks").read_bytes(), b"a" * 10)

    def test_files_that_grow_beyond_the_limit_while_they_are_read_are_not_saved(self):
        for name, size in (("small", 100), ("large", 5000)):
            path = self.work / name
            path.write_bytes(b"a" * size)

            def change(_, path=path, size=size):
                path.write_bytes(b"a" * (size + 1))

            with changing(change, before_read=True):
                result, folder = self.saved(bytes_max=size)
            why = f"it has {size + 1:,} bytes, and at most {size:,} are saved"
            self.assertEqual(result, {"kind": "too_large", "why": why})
            self.assertFalse(folder.exists())
            path.unlink()

    def test_a_folder_that_becomes_a_link_leads_nowhere(self):
        secret = self.base / "secret"
        secret.mkdir()
        (secret / "x").write_text("do not save")
        (self.work / "in").mkdir()
        (self.work / "in" / "x").write_text("mine")
        real = _pack.opened_file

        def swapped(root, path):
            if (self.work / "in").is_dir() and not (self.work / "in").is_symlink():
                os.rename(self.work / "in", self.work / "old")
                (self.work / "in").symlink_to(secret)
            return real(root, path)

        with mock.patch.object(_pack, "opened_file", swapped):
            _, folder = self.saved()
        self.assertNotIn(b"do not save", all_bytes(folder))


class Again(Folders):
    def setUp(self):
        super().setUp()
        self.age()

    def test_an_unchanged_folder_is_not_saved_again(self):
        (self.work / "x").write_text("x")
        made, last = self.saved()
        self.assertEqual(made["kind"], "saved")
        result, folder = self.saved()
        self.assertEqual(result["kind"], "unchanged")
        # The platform may not have this one yet.
        self.assertEqual(result["last"], last.name)
        self.assertFalse(folder.exists())

    def test_the_layout_of_an_open_tab_is_saved_with_other_changes_only(self):
        layout = self.work / ".jupyter/lab/workspaces/default-37a8.jupyterlab-workspace"
        layout.parent.mkdir(parents=True)
        layout.write_text("one")
        self.saved()
        layout.write_text("two")
        (layout.parent / "other-52b1.jupyterlab-workspace").write_text("of another tab")
        self.assertEqual(self.saved()[0]["kind"], "unchanged")
        (self.work / "x").write_text("x")
        result, folder = self.saved()
        self.assertEqual(result["kind"], "saved")
        self.assertEqual(tree_of(self.unpacked(folder)), tree_of(self.work))

    def test_each_kind_of_change_is_saved(self):
        (self.work / "x").write_text("x")
        (self.work / "link").symlink_to("a")
        (self.work / "folder").mkdir()
        self.saved()

        def relink():
            (self.work / "link").unlink()
            (self.work / "link").symlink_to("b")

        for change in (
            lambda: (self.work / "x").write_text("y"),
            lambda: os.chmod(self.work / "x", 0o755),
            lambda: os.chmod(self.work / "folder", 0o500),
            lambda: os.rename(self.work / "x", self.work / "z"),
            relink,
            lambda: (self.work / "folder").rmdir(),
        ):
            change()
            result, folder = self.saved()
            self.assertEqual(result["kind"], "saved")
            self.assertEqual(tree_of(self.unpacked(folder)), tree_of(self.work))

    def test_a_change_at_the_time_of_a_save_is_seen_by_the_next(self):
        mock.patch.stopall()
        (self.work / "x").write_text("x")
        self.assertEqual(self.saved()[0]["kind"], "saved")
        self.assertEqual(self.saved()[0]["kind"], "saved")

    def test_a_save_that_the_platform_refused_is_made_again(self):
        (self.work / "x").write_text("x")
        _, folder = self.saved()
        (self.base / "saves/spool/checkpoints" / f"{folder.name}.json").unlink()
        self.assertEqual(self.saved()[0]["kind"], "saved")

    def test_unchanged_files_are_links_to_the_last_save(self):
        (self.work / "large").write_bytes(bytes(5000))
        (self.work / "small").write_bytes(b"1")
        _, first = self.saved()
        (self.work / "small").write_bytes(b"2")
        _, second = self.saved()
        one, other = ((save / "files/large").stat().st_ino for save in (first, second))
        self.assertEqual(one, other)
        one, other = ((save / "small-1.tar").stat().st_ino for save in (first, second))
        self.assertNotEqual(one, other)

    def test_a_large_file_is_on_the_disk_before_it_is_read(self):
        # Else a later write through a memory map may leave its time, and so the file, as it is for the next save.
        path = self.work / "map"
        path.write_bytes(b"x" * 5000)
        steps = []

        def synced(fd):
            steps.append(os.fstat(fd).st_ino)

        def copied(fd, target):
            steps.append("copied")
            Path(target).write_bytes(b"x" * 5000)

        with (
            mock.patch.object(_pack.os, "fsync", side_effect=synced),
            mock.patch.object(_pack, "_copy", side_effect=copied),
        ):
            self.saved()
        before = steps[: steps.index("copied")]
        self.assertEqual(before[-1], path.stat().st_ino)

    def test_a_full_disk_leaves_no_file_out_of_a_save(self):
        full = OSError(errno.ENOSPC, "No space left on device")
        for writer, size in (("_append", 100), ("_copy", 5000)):
            path = self.work / "file"
            path.write_bytes(b"x" * size)
            with mock.patch.object(_pack, writer, side_effect=full), self.assertRaises(OSError):
                self.saved()
            # Files of the attempt would keep the disk full.
            self.assertEqual(all_bytes(self.base / "store"), b"")
            path.unlink()

    def test_one_small_file_changes_one_archive(self):
        for number in range(200):
            (self.work / f"{number:03}").write_bytes(os.urandom(700))
        _, first = self.saved()
        (self.work / "150").write_bytes(os.urandom(900))
        _, second = self.saved()
        before = {path.read_bytes() for path in first.glob("small-*.tar")}
        after = {path.read_bytes() for path in second.glob("small-*.tar")}
        self.assertGreater(len(after), 3)
        self.assertLessEqual(len(after - before), 2)

    def test_the_files_of_saves_in_an_object_store_are_removed_but_for_the_last(self):
        for number in range(5):
            (self.work / "x").write_text(str(number))
            _, folder = self.saved(store="s3://bucket")
            settle(self.base, folder.name)
        left = sorted(path.name for path in (self.base / "store").iterdir())
        self.assertEqual(left, ["save-4", "save-5"])
        stored = sorted(path.name for path in (self.base / "saves/spool/stored").iterdir())
        self.assertEqual(stored, [f"save-{number}.json" for number in (2, 3, 4, 5)])

    def test_a_record_for_an_object_store_has_the_digests(self):
        (self.work / "x").write_text("x")
        self.saved(store="s3://bucket")
        written = json.loads((self.base / "saves/spool/checkpoints/save-1.json").read_bytes())
        self.assertTrue(written["isDigested"])
        self.assertEqual(written["metadata"]["format"], FORMAT)
        self.assertEqual(written["stepsCompleted"], 1)


class Killed(Folders):
    def test_a_save_that_is_killed_at_any_step_leaves_the_last_one_or_a_mark(self):
        (self.work / "large").write_bytes(bytes(5000))
        (self.work / "small").write_bytes(b"1")
        _, first = self.saved()
        whole = tree_of(self.unpacked(first))
        spool = self.base / "saves/spool/checkpoints"
        step = 0
        while True:
            (self.work / "small").write_bytes(str(step).encode())
            step += 1
            order = self.order()
            with self.subTest(step=step), killed_at(step) as is_killed:
                with contextlib.suppress(KeyboardInterrupt):
                    save(order)
            record = spool / f"{order.checkpoint}.json"
            if record.exists():
                folder = Path(order.root) / order.checkpoint
                self.assertEqual(tree_of(self.unpacked(folder)), tree_of(self.work))
            elif (Path(order.root) / order.checkpoint).exists():
                self.assertTrue((spool / f"{order.checkpoint}.begun").exists())
            if not is_killed():
                break
        self.assertGreater(step, 8)
        (self.base / "again").mkdir()
        unpack(first, self.base / "again")
        self.assertEqual(tree_of(self.base / "again"), whole)


class Program(Folders):
    def test_the_program_saves_and_ends_with_its_parent(self):
        (self.work / "x").write_text("x")
        order = self.order()._asdict()
        command = [sys.executable, "-m", "trainyard._work._save"]
        with subprocess.Popen(
            command, cwd="/", env={"PYTHONPATH": str(SRC)}, stdin=-1, stdout=-1, stderr=-1
        ) as child:
            child.stdin.write(json.dumps(order).encode() + b"\n")
            child.stdin.flush()
            told = json.loads(child.stdout.read())
            self.assertEqual((told["kind"], child.wait()), ("saved", 0))

    def test_a_failure_is_one_line(self):
        order = self.order(work=str(self.base / "absent"))._asdict()
        command = [sys.executable, "-m", "trainyard._work._save"]
        line = json.dumps(order).encode() + b"\n"
        env = {"PYTHONPATH": str(SRC)}
        end = subprocess.run(command, cwd="/", env=env, input=line, capture_output=True)
        self.assertEqual(end.returncode, 1)


if __name__ == "__main__":
    unittest.main()
