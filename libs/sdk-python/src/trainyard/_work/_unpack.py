"""Unpacks a save into an empty folder. A save is somebody's data: nothing in it leads out of the folder."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from .._limits import COPY_BYTES
from ..errors import CheckpointError
from . import DESCRIPTION, FORMAT
from ._limits import DESCRIPTION_BYTES_MAX
from ._scan import opened_folder

# A program of a save gets the rights of its user and no others.
_FILE_MODES, _FOLDER_MODES = 0o1777, 0o7777
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class MalformedError(CheckpointError):
    """The files are not a save that this version can read."""


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
    except ValueError as error:
        raise MalformedError(f"{folder / DESCRIPTION} is not JSON: {error}") from error
    if not isinstance(described, dict) or described.get("format") != FORMAT:
        raise MalformedError(f"{folder} is not a save of a task's folder ({FORMAT})")
    return described


def unpack(save: Path, target: Path, *, moves: bool = False) -> None:
    """Unpacks a save into a folder that no other process uses. ``moves``: large files are moved out of the save.
    Raises MalformedError for one that no version of this package has written.
    """
    described = description_of(save)
    root = os.open(target, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        unpacking = _Unpacking(root)
        try:
            for name in described["archives"]:
                unpacking.archive(save / _inside(str(name)))
            for file in described["large"]:
                unpacking.large(save / _inside(str(file["file"])), file, moves)
        except (KeyError, TypeError, ValueError, tarfile.TarError) as error:
            raise MalformedError(f"the save in {save} cannot be read: {error}") from error
        unpacking.finish()
    finally:
        os.close(root)


class _Unpacking:
    def __init__(self, root: int) -> None:
        self._root = root
        # The folders' modes and times are set last: a folder may be one that its owner cannot write to.
        self._folders: list[tuple[bytes, int, int]] = []
        self._modes: list[tuple[bytes, int, int]] = []

    def archive(self, path: Path) -> None:
        with tarfile.open(path, "r:", encoding="utf-8", errors="surrogateescape") as archive:
            for member in archive:
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
                    content = None if member.issparse() else archive.extractfile(member)
                    if not member.isreg() or content is None:
                        raise ValueError(f"{member.name!r} is neither a file, a folder nor a link")
                    self._write(name, content, member.mode & _FILE_MODES, mtime_ns)

    def large(self, path: Path, described: dict[str, Any], moves: bool) -> None:
        name = os.fsencode(_inside(str(described["path"])))
        mode, mtime_ns = int(described["mode"]) & _FILE_MODES, int(described["mtime"])
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise ValueError(f"{path} is not a file")
        if moves:
            with self._parent(name) as (fd, base):
                os.rename(path, base, dst_dir_fd=fd)
                _finish(base, fd, mode, mtime_ns)
            return
        with open(path, "rb") as content:
            self._write(name, content, mode, mtime_ns)

    def finish(self) -> None:
        for name, mode, mtime_ns in reversed(self._folders):
            with self._parent(name) as (fd, base):
                _finish(base, fd, mode, mtime_ns)

    def _write(self, name: bytes, content: Any, mode: int, mtime_ns: int) -> None:
        with self._parent(name) as (fd, base):
            with open(os.open(base, _CREATE, 0o600, dir_fd=fd), "wb") as file:
                _copy(content, file)
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


def _copy(content: Any, file: BinaryIO) -> None:
    shutil.copyfileobj(content, file, COPY_BYTES)


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
