"""Small durable-file helpers that several modules share."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from typing import Any, Union

from ._limits import COPY_BYTES

fcntl: Any
try:
    import fcntl
except ImportError:
    # Windows has no advisory locks: only one process may write a run's folder there.
    fcntl = None

PathLike = Union[str, "os.PathLike[str]"]


def write_by_rename(path: PathLike, content: bytes, *, durable: bool = False) -> None:
    """Replaces a file atomically: a reader sees the old content or the new. ``durable``: the file and its name are on
    the disk when this returns.
    """
    target = os.fspath(path)
    draft = f"{target}.{os.getpid()}-{threading.get_ident()}.tmp"
    try:
        with open(draft, "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(draft, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise
    if durable:
        sync_folder(os.path.dirname(target))


def try_lock(fd: int) -> bool:
    """Takes the lock of an open file if it is free. Returns True if the file system has no locks."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def lock(fd: int) -> None:
    """Waits for the exclusive lock of an open file. Returns at once if the file system has no locks."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX)


def unlock(fd: int) -> None:
    """Releases the lock of an open file."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_UN)


# Constants of linux/falloc.h. FALLOC_FL_KEEP_SIZE keeps the length of the file.
_FALLOC_KEEP_SIZE = 1
_FALLOC_PUNCH_HOLE = 2


def punch_hole(fd: int, start: int, length: int) -> bool:
    """Frees the disk blocks of a range of a file: the range then reads as zeros, and the rest is unchanged.
    Returns False if the system or the file system does not support this.
    """
    import ctypes

    try:
        fallocate = ctypes.CDLL(None, use_errno=True).fallocate64
    except (OSError, AttributeError):
        return False
    fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
    mode = _FALLOC_KEEP_SIZE | _FALLOC_PUNCH_HOLE
    punched: int = fallocate(fd, mode, start, length)
    return punched == 0


def sync_file(path: PathLike) -> None:
    """Syncs a file and its name to disk."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
    sync_folder(os.path.dirname(path))


def sync_folder(path: PathLike) -> None:
    """Syncs the names in a folder to disk, if the file system supports it."""
    fd = os.open(path, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(fd)
    finally:
        os.close(fd)


def copy_file(source: PathLike, target: PathLike) -> None:
    """Copies a file's contents inside the kernel, which may share the blocks if the file system supports it."""
    import shutil

    if not _copy_in_kernel(source, target):
        shutil.copyfile(source, target)


def _copy_in_kernel(source: PathLike, target: PathLike) -> bool:
    """Returns False if the system, the file systems or the kind of file do not support the copy."""
    copy_range = getattr(os, "copy_file_range", None)
    if copy_range is None:
        return False
    with open(source, "rb") as read, open(target, "wb") as write:
        size = os.fstat(read.fileno()).st_size
        copied = 0
        while copied < size:
            try:
                count: int = copy_range(read.fileno(), write.fileno(), size - copied)
            except OSError as error:
                if error.errno in _NO_KERNEL_COPY and copied == 0:
                    return False
                raise
            if count == 0:
                # The file became shorter, or is a kernel file, whose size is meaningless.
                return copied > 0
            copied += count
    return size > 0


_NO_KERNEL_COPY = (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM)


def is_sparse(path: PathLike) -> bool:
    """Whether a file has holes: its disk blocks are fewer than its length."""
    stat = os.stat(path)
    return stat.st_blocks * 512 < stat.st_size


def copy_sparse(source: PathLike, target: PathLike) -> None:
    """Copies a file's contents without writing its holes."""
    with open(source, "rb") as read, open(target, "wb") as write:
        size = os.fstat(read.fileno()).st_size
        at = 0
        while at < size:
            try:
                begin = os.lseek(read.fileno(), at, os.SEEK_DATA)
            except OSError:
                # No data follows this position.
                break
            at = os.lseek(read.fileno(), begin, os.SEEK_HOLE)
            read.seek(begin)
            write.seek(begin)
            for place in range(begin, at, COPY_BYTES):
                write.write(read.read(min(COPY_BYTES, at - place)))
        write.truncate(size)
