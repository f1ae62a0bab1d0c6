"""Folders for the tests of saves: drawn trees, their contents, and what happens to them during a save."""

import contextlib
import json
import os
import stat
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from trainyard._work import _pack, _scan, _units
from trainyard._work._save import Order, save
from trainyard._work._unpack import unpack


class Folders(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.addCleanup(lambda: make_removable(holder.name))
        self.base = Path(os.path.realpath(holder.name))
        self.work = self.base / "work"
        self.work.mkdir()
        (self.base / "saves").mkdir()
        self.count = 0
        # Small sizes reach every kind of file with little data.
        for name, value in (("LARGE_BYTES", 4096), ("ARCHIVE_BYTES_MIN", 8192)):
            patch = mock.patch.object(_units, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        patch = mock.patch.object(_units, "ARCHIVE_BYTES_MAX", 32768)
        patch.start()
        self.addCleanup(patch.stop)

    def order(self, **changes):
        self.count += 1
        order = Order(
            work=str(self.work),
            saves=str(self.base / "saves"),
            root=str(self.base / "store"),
            store="",
            checkpoint=f"save-{self.count}",
            step=self.count,
            task="t12",
            run=1,
            bytes_max=1 << 30,
            files_max=10_000,
        )
        return order._replace(**changes)

    def saved(self, **changes):
        order = self.order(**changes)
        return save(order), Path(order.root) / order.checkpoint

    def unpacked(self, folder):
        target = self.base / f"back-{folder.name}"
        target.mkdir()
        unpack(folder, target)
        return target

    def age(self):
        """Makes the folder one that has not changed for a while."""
        patch = mock.patch.object(_units, "SAME_TIME_NS", -(10**12))
        patch.start()
        self.addCleanup(patch.stop)


@contextlib.contextmanager
def changing(change, before_read=False):
    """Calls ``change`` with the path of each file while it is open."""
    real = _pack.opened_file

    @contextlib.contextmanager
    def opened(root, path):
        if before_read:
            change(path)
        with real(root, path) as fd:
            yield fd

    def entry_of_file(path, status):
        entry = _scan.entry_of_file(path, status)
        if not before_read:
            change(path)
        return entry

    with (
        mock.patch.object(_pack, "opened_file", opened),
        mock.patch.object(_pack, "entry_of_file", entry_of_file),
    ):
        yield


@contextlib.contextmanager
def killed_at(step):
    """Raises KeyboardInterrupt at one of the steps that write, as a kill would end the program there."""
    calls = 0

    def counted(real):
        def call(*arguments, **named):
            nonlocal calls
            calls += 1
            if calls == step:
                raise KeyboardInterrupt
            return real(*arguments, **named)

        return call

    with contextlib.ExitStack() as stack:
        for name in ("link", "fsync", "replace", "mkdir", "unlink"):
            stack.enter_context(mock.patch.object(os, name, counted(getattr(os, name))))
        yield lambda: calls >= step


def draw_tree(rng, folder, depth):
    """Adds drawn files, links and folders, and changes some that exist."""
    names = [b"a", b"b c", b"\xff", "日本".encode(), b"n" * 120, b"x\ny", b"-v", b"C:d", b"@e"]
    for name in rng.sample(names, rng.randint(0, 5)):
        path = os.path.join(folder, name)
        kind = rng.choice(["file", "file", "large", "link", "folder", "hard"])
        if os.path.lexists(path):
            if os.path.isdir(path) and not os.path.islink(path):
                continue
            os.unlink(path)
        if kind in ("file", "large"):
            with open(path, "wb") as file:
                file.write(rng.randbytes(rng.randint(0, 4000) + (6000 if kind == "large" else 0)))
            os.chmod(path, rng.choice([0o600, 0o644, 0o755, 0o444, 0o4711, 0o000, 0o2770]))
            when = rng.randint(0, 2_000_000_000)
            os.utime(path, ns=(when * 10**9, when * 10**9))
        elif kind == "link":
            os.symlink(rng.choice([b"/etc/passwd", b"a", b"../\xff", b"nowhere" * 30]), path)
            os.utime(path, (1, rng.randint(0, 2_000_000_000)), follow_symlinks=False)
        elif kind == "hard" and os.path.isfile(os.path.join(folder, b"a")) and name != b"a":
            os.link(os.path.join(folder, b"a"), path, follow_symlinks=False)
        elif kind == "folder":
            os.mkdir(path)
            if depth:
                draw_tree(rng, path, depth - 1)
            os.utime(path, (1, rng.randint(0, 2_000_000_000)))
            os.chmod(path, rng.choice([0o755, 0o700, 0o555, 0o1777]))


def tree_of(folder):
    """Each path with its kind, mode, time and content."""
    found = {}
    base = os.fsencode(folder)
    for parent, folders, files in os.walk(base):
        for name in folders + files:
            path = os.path.join(parent, name)
            status = os.lstat(path)
            mode, when = stat.S_IMODE(status.st_mode), status.st_mtime_ns // 10**9
            told = (stat.S_IFMT(status.st_mode), mode, when)
            if stat.S_ISLNK(status.st_mode):
                told = ("link", when, os.readlink(path))
            elif stat.S_ISREG(status.st_mode):
                # The bits that change the user of a program are not kept.
                with open(path, "rb") as file:
                    told = ("file", mode & 0o1777, when, file.read())
            found[path[len(base) + 1 :]] = told
    return found


def files_below(folder):
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]


def all_bytes(folder):
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def settle(base, name):
    """Keeps the record of a save that is complete, as the agent does."""
    spool = base / "saves/spool"
    (spool / "stored").mkdir(exist_ok=True)
    os.rename(spool / "checkpoints" / f"{name}.json", spool / "stored" / f"{name}.json")


def make_removable(folder):
    for parent, folders, _ in os.walk(folder):
        for name in folders:
            with contextlib.suppress(OSError):
                os.chmod(os.path.join(parent, name), 0o700)


def in_fork(uid, action):
    """Returns the result of an action in a process of another user, if this one may change its user."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            if os.geteuid() == 0:
                os.setgid(uid)
                os.setuid(uid)
            os.write(write, json.dumps(action()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with open(read, "rb") as file:
        text = file.read()
    os.waitpid(pid, 0)
    return json.loads(text)
