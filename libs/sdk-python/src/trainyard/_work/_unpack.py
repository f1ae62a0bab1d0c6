"""Unpacks a save into an empty folder. A save is somebody's data: nothing in it leads out of the folder."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, NamedTuple

from .._limits import CHECKPOINT_FILES_MAX, COPY_BYTES
from ..errors import CheckpointError
from . import DESCRIPTION, FORMAT
from ._archive import members
from ._limits import DESCRIPTION_BYTES_MAX, ENTRY_BYTES_MAX
from ._scan import opened_folder

# A program of a save gets the rights of its user and no others.
_FILE_MODES, _FOLDER_MODES = 0o1777, 0o7777
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


# The errors of a description or an archive that nobody has packed.
_MALFORMED = (
    *(KeyError, TypeError, ValueError, OverflowError),
    *(FileExistsError, tarfile.TarError),
)


class MalformedError(CheckpointError):
    """The files are not a save that this version can read."""


class BeyondLimitsError(CheckpointError):
    """The save has more than may be restored."""


class Limits(NamedTuple):
    """The limits of what is restored: those of what is saved."""

    bytes_max: int
    files_max: int

    def check_stored(self, count: int) -> None:
        """Raises BeyondLimitsError for files of a save that together have too many bytes, before they are read."""
        more = self.files_max * ENTRY_BYTES_MAX + DESCRIPTION_BYTES_MAX
        if count > self.bytes_max + more:
            raise BeyondLimitsError(
                f"it has {count:,} bytes, and at most {self.bytes_max:,} are restored"
            )

    def check(self, entries: int, count: int) -> None:
        """Raises BeyondLimitsError for too many entries, or bytes in them."""
        if entries > self.files_max:
            raise BeyondLimitsError(
                f"it has more than {self.files_max:,} files, the most that are restored"
            )
        if count > self.bytes_max:
            raise BeyondLimitsError(
                f"it has more than {self.bytes_max:,} bytes, the most that are restored"
            )


def is_save(folder: Path) -> bool:
    """Whether a folder has the files of a save."""
    try:
        return description_of(folder).get("format") == FORMAT
    except (OSError, MalformedError):
        return False


def description_of(folder: Path) -> dict[str, Any]:
    """The description of the save in a folder. Raises MalformedError for one that this version cannot read."""
    with open(folder / DESCRIPTION, "rb") as file:
        text = file.read(DESCRIPTION_BYTES_MAX)
    try:
        described = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"{folder / DESCRIPTION} is not JSON: {error}") from error
    if not isinstance(described, dict) or described.get("format") != FORMAT:
        raise MalformedError(f"{folder} is not a save of a task's folder ({FORMAT})")
    return described


def unpack(save: Path, target: Path, *, moves: bool = False, limits: Limits | None = None) -> None:
    """Unpacks a save into a folder that no other process uses. ``moves``: large files are moved out of the save.
    Raises MalformedError for one that no version of this package has written, and BeyondLimitsError.
    """
    described = description_of(save)
    root = os.open(target, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        unpacking = _Unpacking(root, limits)
        try:
            if len(described["archives"]) + len(described["large"]) > CHECKPOINT_FILES_MAX:
                raise ValueError("it names more files than a checkpoint has")
            for name in described["archives"]:
                unpacking.archive(save / _inside(str(name)))
            for file in described["large"]:
                unpacking.large(save / _inside(str(file["file"])), file, moves)
        except _MALFORMED as error:
            raise MalformedError(f"the save in {save} cannot be read: {error}") from error
        unpacking.finish()
    finally:
        os.close(root)


class _Unpacking:
    def __init__(self, root: int, limits: Limits | None) -> None:
        self._root = root
        self._limits = limits
        self._entries = self._bytes = 0
        # The folders' modes and times are set last: a folder may be one that its owner cannot write to.
        self._folders: list[tuple[bytes, int, int]] = []

    def archive(self, path: Path) -> None:
        with open(path, "rb") as archive:
            for member in members(archive):
                self._count(member.size)
                name = os.fsencode(_inside(member.name))
                mtime_ns = int(member.mtime) * 10**9
                if member.isdir():
                    self._make_folder(name)
                    self._folders.append((name, member.mode, mtime_ns))
                elif member.issym():
                    with self._parent(name) as (fd, base):
                        os.symlink(os.fsencode(member.linkname), base, dir_fd=fd)
                        os.utime(base, ns=(mtime_ns, mtime_ns), dir_fd=fd, follow_symlinks=False)
                else:
                    self._write(name, archive, member.size, member.mode & _FILE_MODES, mtime_ns)

    def large(self, path: Path, described: dict[str, Any], moves: bool) -> None:
        name = os.fsencode(_inside(str(described["path"])))
        mode, mtime_ns = int(described["mode"]) & _FILE_MODES, int(described["mtime"])
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError(f"{path} is not a file")
        self._count(status.st_size)
        if moves:
            with self._parent(name) as (fd, base):
                os.rename(path, base, dst_dir_fd=fd)
                _finish(base, fd, mode, mtime_ns)
            return
        with open(path, "rb") as content:
            self._write(name, content, status.st_size, mode, mtime_ns)

    def finish(self) -> None:
        for name, mode, mtime_ns in reversed(self._folders):
            with self._parent(name) as (fd, base):
                _finish(base, fd, mode, mtime_ns)

    def _count(self, size: int) -> None:
        self._entries += 1
        self._bytes += size
        if self._limits is not None:
            self._limits.check(self._entries, self._bytes)

    def _write(self, name: bytes, content: BinaryIO, size: int, mode: int, mtime_ns: int) -> None:
        with self._parent(name) as (fd, base):
            with open(os.open(base, _CREATE, 0o600, dir_fd=fd), "wb") as file:
                _copy(content, file, size)
            _finish(base, fd, mode, mtime_ns)

    def _make_folder(self, name: bytes) -> None:
        with self._parent(name) as (fd, base):
            with contextlib.suppress(FileExistsError):
                os.mkdir(base, 0o700, dir_fd=fd)
            # The mode of what a link names would change.
            if not stat.S_ISDIR(os.stat(base, dir_fd=fd, follow_symlinks=False).st_mode):
                raise ValueError(f"{os.fsdecode(name)!r} is a folder and something else")

    @contextlib.contextmanager
    def _parent(self, name: bytes) -> Iterator[tuple[int, bytes]]:
        folder, _, base = name.rpartition(b"/")
        with opened_folder(self._root, folder) as fd:
            yield fd, base


def _copy(content: BinaryIO, file: BinaryIO, size: int) -> None:
    left = size
    while left > 0:
        piece = content.read(min(left, COPY_BYTES))
        if not piece:
            raise ValueError(f"a file ends {left:,} bytes early")
        file.write(piece)
        left -= len(piece)


def _finish(base: bytes, fd: int, mode: int, mtime_ns: int) -> None:
    """Sets the time and the mode of a file or folder that this process has made."""
    os.utime(base, ns=(mtime_ns, mtime_ns), dir_fd=fd, follow_symlinks=False)
    os.chmod(base, mode & _FOLDER_MODES, dir_fd=fd)


def _inside(path: str) -> str:
    """A relative path of plain names. Raises ValueError for any other."""
    parts = PurePosixPath(path).parts
    if not parts or parts[0] == "/" or ".." in parts or "\0" in path:
        raise ValueError(f"{path!r} is outside of the folder")
    return "/".join(parts)
