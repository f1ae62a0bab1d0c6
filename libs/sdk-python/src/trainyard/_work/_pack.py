"""Writes the files of a save: archives of small entries, and copies of large files.

A file that changes while it is read is read again, a few times, and then taken as it is. What the last save has
already is a hard link to it: the files of saves are written once, and only by this module.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from .._checkpoint._parts import Digested, snapshot
from .._code._tar import BLOCK, header_with_time
from .._files import copy_file, copy_sparse, is_sparse, sync_folder
from .._limits import COPY_BYTES
from .._storage import FileEntry
from . import DESCRIPTION, FORMAT
from ._limits import READS_MAX
from ._scan import FOLDER, LINK, Entry, Scan, entry_of_file, opened_file
from ._units import Unit

_KINDS = {FOLDER: b"5", LINK: b"2"}
# Errors of the place of the save. A file that cannot be read has others, and is left out.
_OF_THE_PLACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class Earlier(NamedTuple):
    """The files of the last save on this host, as proto JSON, by the keys of their units."""

    folder: Path
    units: Mapping[str, dict[str, Any]]


class Packed(NamedTuple):
    """The files of a save, and which units they are."""

    files: list[Digested]
    keys: dict[str, dict[str, Any]]
    # Pairs of a path and what was wrong with it.
    left_out: list[tuple[bytes, str]]
    # Whether every entry is saved as it was listed.
    is_stable: bool


def pack(
    root: int,
    scanned: Scan,
    units: list[Unit],
    target: Path,
    about: Mapping[str, Any],
    earlier: Earlier | None,
    wants_md5: bool,
) -> Packed:
    """Writes a save into the folder ``target`` and syncs it. ``root`` is the open folder to save. ``about`` is
    added to the description.
    """
    writing = _Writing(root, target)
    files: list[Digested] = []
    keys: dict[str, dict[str, Any]] = {}
    large: list[dict[str, Any]] = []
    are_stable = True
    for unit in units:
        file = _linked(unit, target, earlier)
        read: Entry | None = unit.entries[0] if unit.entries else None
        is_stable = file is not None
        if file is None:
            read, is_stable = writing.large(unit) if unit.is_large else writing.archive(unit)
            are_stable = are_stable and is_stable
            if unit.is_large and read is None:
                continue
            file = _sealed(target, unit.name, wants_md5)
        files.append(file)
        if unit.key and is_stable:
            keys[unit.key] = file.message()
        if unit.is_large and read is not None:
            large.append(_described(unit, read))
    described = {
        "format": FORMAT,
        **about,
        "files": len(scanned.entries),
        "bytes": scanned.bytes,
        "archives": [unit.name for unit in units if not unit.is_large],
        "large": large,
    }
    (target / DESCRIPTION).write_text(json.dumps(described), encoding="ascii")
    files.append(_sealed(target, DESCRIPTION, wants_md5))
    for parent, _, _ in os.walk(target):
        sync_folder(parent)
    sync_folder(target.parent)
    return Packed(sorted(files), keys, writing.left_out, are_stable)


def _described(unit: Unit, entry: Entry) -> dict[str, Any]:
    path = os.fsdecode(entry.path)
    return {"path": path, "file": unit.name, "mode": entry.mode, "mtime": entry.mtime_ns}


def _linked(unit: Unit, target: Path, earlier: Earlier | None) -> Digested | None:
    """Links the file of the last save that has the unit's content. None if there is none."""
    told = earlier.units.get(unit.key) if earlier is not None and unit.key else None
    if told is None or earlier is None:
        return None
    source, path = earlier.folder / str(told["path"]), target / unit.name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if source.stat().st_size != int(told["bytes"]):
            return None
        os.link(source, path, follow_symlinks=False)
    except OSError:
        return None
    entry = FileEntry(unit.name, int(told["bytes"]), str(told["sha256"]))
    return Digested(entry, list(told.get("partSha256") or []), str(told.get("md5") or ""))


def _sealed(target: Path, name: str, wants_md5: bool) -> Digested:
    with open(target / name, "rb") as file:
        os.fsync(file.fileno())
    return snapshot(target, name, lambda count: None, wants_md5)


class _Writing:
    def __init__(self, root: int, target: Path) -> None:
        self._root = root
        self._target = target
        self.left_out: list[tuple[bytes, str]] = []

    def large(self, unit: Unit) -> tuple[Entry | None, bool]:
        """Copies a large file. Returns it as it was read, None if it is gone, and whether it is the listed one."""
        (listed,) = unit.entries
        path = self._target / unit.name
        path.parent.mkdir(parents=True, exist_ok=True)
        before = None
        for _ in range(READS_MAX):
            try:
                with opened_file(self._root, listed.path) as fd:
                    _show_later_writes(fd)
                    before = _opened(listed, fd)
                    _copy(fd, path)
                    after = _opened(listed, fd)
            except OSError as error:
                path.unlink(missing_ok=True)
                return None, self._is_same_later(listed, error)
            if before == after:
                return after, after == listed
        self.left_out.append((listed.path, "changed while it was read, and is saved as it was"))
        return before, False

    def archive(self, unit: Unit) -> tuple[Entry | None, bool]:
        """Writes an archive. Returns whether all of its entries are as they were listed."""
        is_stable = True
        with open(self._target / unit.name, "w+b") as file:
            for entry in unit.entries:
                if entry.kind in _KINDS:
                    file.write(_header(entry))
                elif not self._add(file, entry):
                    is_stable = False
            file.write(bytes(2 * BLOCK))
        return None, is_stable

    def _add(self, file: BinaryIO, listed: Entry) -> bool:
        """Adds a file to an archive. Returns whether it is as it was listed."""
        start = file.tell()
        for _ in range(READS_MAX):
            file.seek(start)
            file.truncate()
            try:
                with opened_file(self._root, listed.path) as fd:
                    before = _opened(listed, fd)
                    count = _append(file, fd, before)
                    after = _opened(listed, fd)
            except OSError as error:
                file.seek(start)
                file.truncate()
                return self._is_same_later(listed, error)
            if before == after and count == before.size:
                return after == listed
        self.left_out.append((listed.path, "changed while it was read, and is saved as it was"))
        return False

    def _is_same_later(self, entry: Entry, error: OSError) -> bool:
        """Notes a file that cannot be read. Returns whether it still cannot if its listing is the same. Raises the
        error if it is one of the place of the save, which would lack the file.
        """
        if error.errno in _OF_THE_PLACE:
            raise error
        if not isinstance(error, FileNotFoundError):
            why = error.strerror or str(error)
            self.left_out.append((entry.path, f"cannot be read ({why})"))
        return isinstance(error, PermissionError)


def _opened(listed: Entry, fd: int) -> Entry:
    """The entry of an open file. One that its owner may not read is readable just now."""
    seen = entry_of_file(listed.path, os.fstat(fd))
    is_opened_up = not listed.mode & stat.S_IRUSR and seen.mode == listed.mode | stat.S_IRUSR
    return seen._replace(mode=listed.mode, ctime_ns=listed.ctime_ns) if is_opened_up else seen


def _append(file: BinaryIO, fd: int, entry: Entry) -> int:
    """Appends the header and the content of an open file. Returns its number of bytes, which may be less than told
    when it was opened: then the header has that number.
    """
    start = file.tell()
    header = _header(entry)
    file.write(header)
    left = entry.size
    while left > 0:
        piece = os.read(fd, min(left, COPY_BYTES))
        if not piece:
            break
        file.write(piece)
        left -= len(piece)
    if left > 0:
        shorter = _header(entry._replace(size=entry.size - left))
        if len(shorter) != len(header):
            # Only a number of more digits beside a long name makes the header longer: the rest reads as zeros.
            file.write(bytes(left))
            left = 0
        else:
            end = file.tell()
            file.seek(start)
            file.write(shorter)
            file.seek(end)
    file.write(bytes(-(entry.size - left) % BLOCK))
    return entry.size - left


def _header(entry: Entry) -> bytes:
    name, target = os.fsdecode(entry.path), os.fsdecode(entry.target)
    name = f"{name}/" if entry.kind == FOLDER else name
    kind = _KINDS.get(entry.kind, b"0")
    return header_with_time(name, entry.mode, entry.size, kind, target, entry.mtime_ns // 10**9)


def _show_later_writes(fd: int) -> None:
    """Makes writes through a memory map that come later change the file's time: a page that is written already does
    that only once it is on the disk. Small files are too many for this.
    """
    with contextlib.suppress(OSError):
        os.fsync(fd)


def _copy(fd: int, target: Path) -> None:
    # The open file again, since its path may lead elsewhere now.
    source = f"/dev/fd/{fd}"
    if stat.S_ISREG(os.fstat(fd).st_mode) and is_sparse(source):
        copy_sparse(source, target)
    else:
        copy_file(source, target)
