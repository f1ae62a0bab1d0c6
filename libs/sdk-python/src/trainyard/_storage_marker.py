"""Identifies the storage of checkpoints that this host sees at a path.

The root of a storage holds a marker, a file whose first line is a random id. The first host that writes to the
storage creates the marker, and the id is sent with each checkpoint. A verifier or deleter on another host compares
the id first, so that it does not take an unmounted share for a storage whose files are missing.

The marker is created atomically: it is written to a temporary file, flushed, and linked to its final name, which
fails if a marker exists. On a file system without links it is created exclusively, and a crash may leave it empty.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import time
from pathlib import Path

from ._files import sync_folder
from ._limits import MARKER_LOOKS_MAX, MARKER_WAIT_S

NAME = ".trainyard-storage"

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_BYTES_MAX = 4_096
_EXPLANATION = """\
# Trainyard knows this storage of checkpoints by the line above. Leave this file where it is: without it no checkpoint
# here is verified or deleted. Where it was lost, "yard storage adopt" writes it again.
"""
# The errors of link(2) on a file system without links, like vfat and some FUSE file systems.
_WITHOUT_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)

# A link instead of a marker is not followed, and a pipe does not block the reader.
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class MarkerError(Exception):
    """The marker of a storage can neither be read nor created by this host."""


def mark(root: Path) -> str:
    """Returns the id of the storage at a root, and creates the marker if it is missing. Raises MarkerError."""
    # Without links, the marker is empty while another process is writing it.
    for _ in range(MARKER_LOOKS_MAX):
        try:
            storage_id = _read(root)
            if storage_id is None:
                _create(root)
                storage_id = _read(root)
        except OSError as error:
            raise MarkerError(
                f"{root} cannot be marked as a storage of checkpoints ({error}): "
                "let the user that trains read and write there"
            ) from error
        if storage_id is not None and _ID.match(storage_id):
            return storage_id
        time.sleep(MARKER_WAIT_S)
    raise MarkerError(
        f'{root / NAME} contains no storage id: run "yard storage adopt {root}" on a host where it is mounted'
    )


def seen(root: Path) -> str:
    """The id of the storage that this host sees at a root; empty if there is none."""
    try:
        storage_id = _read(root)
    except OSError:
        return ""
    return storage_id if storage_id is not None and _ID.match(storage_id) else ""


def _read(root: Path) -> str | None:
    """The first line of the marker; None without a marker."""
    try:
        fd = os.open(root / NAME, _FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return ""
        return os.read(fd, _BYTES_MAX).decode("utf-8", "replace").split("\n", 1)[0]
    finally:
        os.close(fd)


def _create(root: Path) -> None:
    # A local import: `import trainyard` must stay fast.
    from uuid import uuid4

    os.makedirs(root, exist_ok=True)
    content = f"{uuid4()}\n{_EXPLANATION}".encode()
    draft = root / f"{NAME}.{uuid4()}.tmp"
    try:
        _write(draft, content)
        try:
            os.link(draft, root / NAME)
        except OSError as error:
            # Another process may have created the marker first, or a file server's answer was lost after the link
            # was made.
            if _read(root) is None:
                if error.errno not in _WITHOUT_LINKS:
                    raise
                with contextlib.suppress(FileExistsError):
                    _write(root / NAME, content)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()
    sync_folder(root)


def _write(path: Path, content: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    with open(fd, "wb") as file:
        with contextlib.suppress(OSError):
            # The verifier or deleter may be another user, so this process's umask must not apply.
            os.fchmod(fd, 0o644)
        file.write(content)
        file.flush()
        os.fsync(fd)
