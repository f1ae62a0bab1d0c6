"""Reads and writes files below a folder in which others may replace anything at any time.

Other programs, like containers that mount the storage, may put a link where a folder or file was. So each step opens or
makes one name below an open folder, follows no link, and makes only new files: a replaced name ends in an OSError, and
nothing outside is read, written or removed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator
from typing import BinaryIO

# A folder whose content this user may not list can be entered, where the system has a way.
_ENTER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe in the place of a file must not block.
_OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@contextlib.contextmanager
def made_root(path: str, trusted: str) -> Iterator[int]:
    """Makes and opens a folder. Links are followed in ``trusted``, the folder above it that only the operator can
    replace; empty for the folder itself.
    """
    above = trusted or path
    os.makedirs(above, exist_ok=True)
    inside = os.path.relpath(path, above)
    if inside == os.curdir:
        with _opened_path(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC) as root:
            yield root
        return
    with entered(above) as fd, made_folder(fd, inside) as root:
        yield root


def entered(path: str) -> contextlib.AbstractContextManager[int]:
    """Opens a folder that others cannot replace, for what is below it: links in its path are followed."""
    return _opened_path(path, _ENTER)


@contextlib.contextmanager
def _opened_path(path: str, flags: int) -> Iterator[int]:
    fd = os.open(path, flags)
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def opened_folder(folder: int, path: str) -> Iterator[int]:
    """Opens a folder below another; the path may be empty."""
    with _walked(folder, path, makes=False) as fd:
        yield fd


@contextlib.contextmanager
def made_folder(folder: int, path: str) -> Iterator[int]:
    """Opens a folder below another, and makes what is missing."""
    with _walked(folder, path, makes=True) as fd:
        yield fd


@contextlib.contextmanager
def opened_file(folder: int, path: str) -> Iterator[BinaryIO]:
    """Opens a regular file for reading. Raises FileNotFoundError or NotADirectoryError for anything else."""
    above, _, name = path.rpartition("/")
    with opened_folder(folder, above) as fd:
        try:
            descriptor = _opened(name, _OPEN_FILE, fd)
        except OSError as error:
            # A link, or a socket.
            if error.errno not in (errno.ELOOP, errno.ENXIO):
                raise
            raise FileNotFoundError(errno.ENOENT, "is not a file", path) from error
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise FileNotFoundError(errno.ENOENT, "is not a file", path)
            yield file


@contextlib.contextmanager
def new_file(folder: int, path: str) -> Iterator[BinaryIO]:
    """Makes a file, and the folders above it, and opens it for writing and reading."""
    above, _, name = path.rpartition("/")
    with made_folder(folder, above) as fd, open(_opened(name, _NEW_FILE, fd), "w+b") as file:
        yield file


def link(source: int, path: str, size: int, target: int, name: str) -> None:
    """Links a regular file of a size into another folder, and makes the folders above it."""
    (above, _, old), (below, _, new) = path.rpartition("/"), name.rpartition("/")
    with opened_folder(source, above) as fd, made_folder(target, below) as other:
        os.link(old, new, src_dir_fd=fd, dst_dir_fd=other, follow_symlinks=False)
        status = os.stat(new, dir_fd=other, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode) or status.st_size != size:
            os.unlink(new, dir_fd=other)
            raise FileNotFoundError(errno.ENOENT, "is another file", path)


def remove_file(folder: int, path: str) -> None:
    """Removes a file; a missing one counts as removed."""
    above, _, name = path.rpartition("/")
    with contextlib.suppress(FileNotFoundError), opened_folder(folder, above) as fd:
        os.unlink(name, dir_fd=fd)


def remove_folder(folder: int, name: str) -> None:
    """Removes a folder with its content, as far as that is possible. A link in it is removed itself."""
    with contextlib.suppress(OSError):
        for _, folders, files, fd in os.fwalk(name, topdown=False, dir_fd=folder):
            for file in files:
                with contextlib.suppress(OSError):
                    os.unlink(file, dir_fd=fd)
            for one in folders:
                with contextlib.suppress(OSError):
                    is_link = stat.S_ISLNK(os.lstat(one, dir_fd=fd).st_mode)
                    (os.unlink if is_link else os.rmdir)(one, dir_fd=fd)
        os.rmdir(name, dir_fd=folder)


def sync_folders(folder: int) -> None:
    """Syncs the names in a folder and in the folders below it to disk, if the file system supports it."""
    for _, _, _, fd in os.fwalk(".", dir_fd=folder):
        sync_names(fd)


def sync_names(folder: int) -> None:
    """Syncs the names in one folder to disk, if the file system supports it."""
    with contextlib.suppress(OSError):
        os.fsync(folder)


def check_same(folder: int, above: int, name: str) -> None:
    """Raises OSError if the name below an open folder no longer names the other one."""
    status = os.stat(name, dir_fd=above, follow_symlinks=False)
    if not os.path.samestat(status, os.fstat(folder)):
        raise OSError(errno.ESTALE, "the folder was replaced while it was written", name)


def place_of(folder: int, path: str) -> str:
    """A path that leads to an open folder wherever it is moved. Only Linux has one."""
    return f"/proc/self/fd/{folder}" if sys.platform == "linux" else path


@contextlib.contextmanager
def _walked(folder: int, path: str, *, makes: bool) -> Iterator[int]:
    with contextlib.ExitStack() as stack:
        fd = folder
        names = path.split("/") if path else []
        for number, name in enumerate(names, 1):
            if makes:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=fd)
            is_last = number == len(names)
            fd = _opened(name, _OPEN_FOLDER if is_last else _ENTER | os.O_NOFOLLOW, fd)
            stack.callback(os.close, fd)
        yield fd


def _opened(name: str, flags: int, folder: int) -> int:
    # The parent of a folder may be outside.
    if name in ("", ".", ".."):
        raise ValueError(f"{name!r} is not the name of a file")
    return os.open(name, flags, 0o666, dir_fd=folder)
