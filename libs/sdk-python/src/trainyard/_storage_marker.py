"""Identifies the storage of checkpoints that this host sees at a path.

The root of a storage holds a marker, a file whose first line is a random id. The host that writes
there makes it once, and sends its id with each checkpoint; a verifier or deleter elsewhere compares
it first, so that a share that is not mounted there is not taken for a storage whose files are
missing.

A marker is whole or it is not there: it is written beside, flushed, and linked into its place,
which fails where one is. A file system without links gets it by an exclusive create, which a crash
may leave empty.
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
# The errors of link(2) on a file system without links: vfat and some of those in user space.
_WITHOUT_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)

# A link in its place is nobody's marker, and a pipe would hold up the reader.
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class MarkerError(Exception):
    """The root has no id that this host could read or write."""


def mark(root: Path) -> str:
    """The id of the storage at a root, which is marked first where it is not. Raises MarkerError."""
    # One that has no links is found empty while another process writes it.
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
    """The id that this host sees at a root; empty where it sees none."""
    try:
        storage_id = _read(root)
    except OSError:
        return ""
    return storage_id if storage_id is not None and _ID.match(storage_id) else ""


def _read(root: Path) -> str | None:
    """The first line of the marker; None where there is none."""
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
    # Loaded here, as in _storage.
    from uuid import uuid4

    os.makedirs(root, exist_ok=True)
    content = f"{uuid4()}\n{_EXPLANATION}".encode()
    draft = root / f"{NAME}.{uuid4()}.tmp"
    try:
        _write(draft, content)
        try:
            os.link(draft, root / NAME)
        except OSError as error:
            # Another was faster; or the answer of a file server was lost, and this one is there after all.
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
            # The verifier or deleter may be another user, so the umask of this one must not matter.
            os.fchmod(fd, 0o644)
        file.write(content)
        file.flush()
        os.fsync(fd)
