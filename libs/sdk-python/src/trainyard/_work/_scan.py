"""Lists what of a task's folder is saved, without following a link.

The folder belongs to programs that may change it at any time. So each step opens one name below an open folder, and
never a path: a folder that becomes a link leads nowhere.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from .._code._ignored import Rules, lines_of
from ._limits import IGNORE_BYTES_MAX, PATH_BYTES_MAX

FOLDER, FILE, LINK = "folder", "file", "link"
_IGNORE_FILE = b".trainyardignore"
# Caches, which programs make again, and what people have thrown away.
_CACHES = (".cache/", "__pycache__/", ".ipynb_checkpoints/", "/.local/share/Trash/")

_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe at the path must not block.
_OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Entry(NamedTuple):
    """A folder, file or link; the path is relative to the saved folder."""

    path: bytes
    kind: str
    mode: int
    size: int = 0
    mtime_ns: int = 0
    # With the inode, the sign that a file's content may have changed.
    ctime_ns: int = 0
    inode: int = 0
    target: bytes = b""


class Scan(NamedTuple):
    """The entries in the order of the folder's tree, each folder before what it contains."""

    entries: list[Entry]
    bytes: int
    # Pairs of a path and the reason why it is not saved.
    left_out: list[tuple[bytes, str]]


class TooLargeError(Exception):
    """The folder has more than may be saved."""


def open_folder(path: str) -> int:
    """Opens the folder to save. The path itself is the caller's, and may contain links."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def scan(root: int, files_max: int, bytes_max: int) -> Scan:
    """Lists the folder. Raises TooLargeError beyond the limits; a sparse file counts with its length."""
    walk = _Walk(root, files_max)
    walk.folder(b"")
    while walk.left:
        walk.folder(walk.left.pop())
    check_bytes(walk.bytes, bytes_max)
    entries = sorted(walk.entries, key=lambda entry: entry.path.split(b"/"))
    return Scan(entries, walk.bytes, walk.left_out)


def check_bytes(count: int, bytes_max: int) -> None:
    """Raises TooLargeError for files that together have too many bytes."""
    if count > bytes_max:
        raise TooLargeError(f"it has {count:,} bytes, and at most {bytes_max:,} are saved")


class _Walk:
    def __init__(self, root: int, files_max: int) -> None:
        self.entries: list[Entry] = []
        self.left: list[bytes] = []
        self.left_out: list[tuple[bytes, str]] = []
        self.bytes = 0
        self._root = root
        self._files_max = files_max
        self._rules = _rules_of(root)

    def folder(self, path: bytes) -> None:
        try:
            with opened_folder(self._root, path) as fd, os.scandir(fd) as found:
                for one in found:
                    name = os.fsencode(one.name)
                    self._take(path + b"/" + name if path else name, name, fd)
        except FileNotFoundError:
            # Removed meanwhile.
            return
        except OSError as error:
            self.left_out.append((path, f"cannot be read ({error.strerror})"))

    def _take(self, path: bytes, name: bytes, fd: int) -> None:
        try:
            entry = _entry_of(path, name, fd)
        except FileNotFoundError:
            return
        if entry is not None and self._rules.leave_out(os.fsdecode(path), entry.kind == FOLDER):
            return
        if entry is None:
            self.left_out.append((path, "is neither a file, a folder nor a link"))
            return
        if len(path) > PATH_BYTES_MAX:
            self.left_out.append((path, "has too long a path"))
            return
        self.entries.append(entry)
        self.bytes += entry.size
        if len(self.entries) > self._files_max:
            raise TooLargeError(
                f"it has more than {self._files_max:,} files, the most that are saved"
            )
        if entry.kind == FOLDER:
            self.left.append(path)


def _entry_of(path: bytes, name: bytes, fd: int) -> Entry | None:
    status = os.stat(name, dir_fd=fd, follow_symlinks=False)
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISDIR(status.st_mode):
        return Entry(path, FOLDER, mode, mtime_ns=status.st_mtime_ns)
    if stat.S_ISLNK(status.st_mode):
        return Entry(
            path, LINK, mode, mtime_ns=status.st_mtime_ns, target=os.readlink(name, dir_fd=fd)
        )
    return entry_of_file(path, status) if stat.S_ISREG(status.st_mode) else None


def entry_of_file(path: bytes, status: os.stat_result) -> Entry:
    """The entry of a regular file."""
    mode = stat.S_IMODE(status.st_mode)
    # Reading a file that its owner may not read changes its mode for a moment, and so this time.
    ctime_ns = status.st_ctime_ns if mode & stat.S_IRUSR else 0
    size, mtime_ns = status.st_size, status.st_mtime_ns
    return Entry(path, FILE, mode, size, mtime_ns, ctime_ns, status.st_ino)


@contextlib.contextmanager
def opened_folder(root: int, path: bytes) -> Iterator[int]:
    """Opens a folder below the root, one name at a time."""
    with contextlib.ExitStack() as stack:
        fd = root
        for name in path.split(b"/") if path else [b"."]:
            fd = stack.enter_context(_readable(fd, name, _OPEN_FOLDER, 0o500))
        yield fd


@contextlib.contextmanager
def opened_file(root: int, path: bytes) -> Iterator[int]:
    """Opens a regular file below the root. Raises OSError for anything else."""
    folder, _, name = path.rpartition(b"/")
    with opened_folder(root, folder) as fd, _readable(fd, name, _OPEN_FILE, 0o400) as file:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(f"{os.fsdecode(path)} is not a file any more")
        yield file


@contextlib.contextmanager
def _readable(folder: int, name: bytes, flags: int, needed: int) -> Iterator[int]:
    """Opens a name. What its owner may not read becomes readable for the time that it is open."""
    mode = None
    try:
        fd = os.open(name, flags, dir_fd=folder)
        if os.geteuid() != 0 and needed & ~os.fstat(fd).st_mode & 0o100:
            # A folder that can be listed and not entered.
            mode = stat.S_IMODE(os.fstat(fd).st_mode)
            os.fchmod(fd, mode | needed)
    except PermissionError:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if status.st_uid != os.geteuid() or stat.S_ISLNK(status.st_mode):
            raise
        mode = stat.S_IMODE(status.st_mode)
        os.chmod(name, mode | needed, dir_fd=folder)
        fd = os.open(name, flags, dir_fd=folder)
    try:
        yield fd
    finally:
        if mode is not None:
            with contextlib.suppress(OSError):
                os.fchmod(fd, mode)
        os.close(fd)


def _rules_of(root: int) -> Rules:
    lines: list[str] = []
    with contextlib.suppress(OSError), opened_file(root, _IGNORE_FILE) as fd:
        lines = lines_of(os.read(fd, IGNORE_BYTES_MAX).decode("utf-8", "replace"))
    return Rules([*_CACHES, *lines])
