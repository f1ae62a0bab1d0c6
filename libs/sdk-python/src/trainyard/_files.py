"""Small durable-file helpers that several modules share."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import Any, Union

fcntl: Any
try:
    import fcntl
except ImportError:
    # Windows has no advisory locks; there one process writes a run's folder.
    fcntl = None

PathLike = Union[str, "os.PathLike[str]"]


def write_by_rename(path: PathLike, content: bytes) -> None:
    """Replaces a file so that a reader sees the old content or the new, never a part of either."""
    target = os.fspath(path)
    draft = f"{target}.{os.getpid()}-{threading.get_ident()}.tmp"
    try:
        with open(draft, "wb") as file:
            file.write(content)
        os.replace(draft, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise


def try_lock(fd: int) -> bool:
    """Takes the lock of an open file if it is free; without locks in the file system it is."""
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
    """Waits for the exclusive lock of an open file; without such locks, for nothing."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX)


def unlock(fd: int) -> None:
    """Gives the lock back."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_UN)


def sync_folder(path: PathLike) -> None:
    """Makes the names in a folder durable, where the file system can."""
    fd = os.open(path, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(fd)
    finally:
        os.close(fd)
