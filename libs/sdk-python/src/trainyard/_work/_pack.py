"""Writes the files of a save: archives of small entries, and copies of large files.

A file that changes while it is read is read again, a few times, and then taken as it is. What the last save has
already is a hard link to it: the files of saves are written once, and only by this module. Others may replace what is
written, where the storage is a folder that they see: see ``_below``.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

from .._checkpoint._parts import Digested, snapshot_of
from .._code._tar import BLOCK, header_with_time
from .._files import PathLike, copy_file, copy_sparse, is_sparse
from .._limits import COPY_BYTES
from .._storage import FileEntry
from . import DESCRIPTION, FORMAT, _below
from ._limits import READS_MAX
from ._scan import FOLDER, LINK, Entry, Scan, entry_of_file, opened_file
from ._units import Unit

_KINDS = {FOLDER: b"5", LINK: b"2"}
# Errors of the place of the save. A file that cannot be read has others, and is left out.
_OF_THE_PLACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class Earlier(NamedTuple):
    """The files of the last save on this host, as proto JSON, by the keys of their units."""

    # The open folder of that save.
    folder: int
    units: Mapping[str, dict[str, Any]]


class Packed(NamedTuple):
    """The files of a save, and which units they are."""

    files: list[Digested]
    keys: dict[str, dict[str, Any]]
    # Pairs of a path and what was wrong with it.
    left_out: list[tuple[bytes, str]]
    # Whether every entry is saved as it was listed.
    is_stable: bool
    # The bytes of the files as they were read: some may have grown since they were listed.
    bytes: int


def pack(
    root: int,
    scanned: Scan,
    units: list[Unit],
    target: int,
    about: Mapping[str, Any],
    earlier: Earlier | None,
    wants_md5: bool,
) -> Packed:
    """Writes a save into the open folder ``target`` and syncs it. ``root`` is the open folder to save. ``about`` is
    added to the description.
    """
    writing = _Writing(root, target, wants_md5)
    files: list[Digested] = []
    keys: dict[str, dict[str, Any]] = {}
    large: list[dict[str, Any]] = []
    are_stable = True
    for unit in units:
        file = _linked(unit, target, earlier)
        read: Entry | None = unit.entries[0] if unit.entries else None
        is_stable = file is not None
        if file is not None:
            writing.bytes += sum(entry.size for entry in unit.entries)
        else:
            file, read, is_stable = writing.large(unit) if unit.is_large else writing.archive(unit)
            are_stable = are_stable and is_stable
            if file is None:
                continue
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
    with _below.new_file(target, DESCRIPTION) as file_of:
        file_of.write(json.dumps(described).encode("ascii"))
        files.append(_sealed(file_of, DESCRIPTION, wants_md5))
    _below.sync_folders(target)
    return Packed(sorted(files), keys, writing.left_out, are_stable, writing.bytes)


def _described(unit: Unit, entry: Entry) -> dict[str, Any]:
    path = os.fsdecode(entry.path)
    return {"path": path, "file": unit.name, "mode": entry.mode, "mtime": entry.mtime_ns}


def _linked(unit: Unit, target: int, earlier: Earlier | None) -> Digested | None:
    """Links the file of the last save that has the unit's content. None if there is none."""
    told = earlier.units.get(unit.key) if earlier is not None and unit.key else None
    if told is None or earlier is None:
        return None
    size = int(told["bytes"])
    try:
        _below.link(earlier.folder, str(told["path"]), size, target, unit.name)
    except OSError:
        return None
    entry = FileEntry(unit.name, size, str(told["sha256"]))
    return Digested(entry, list(told.get("partSha256") or []), str(told.get("md5") or ""))


def _sealed(file: BinaryIO, name: str, wants_md5: bool) -> Digested:
    """Syncs and reads a file that was written, through its open descriptor."""
    file.flush()
    os.fsync(file.fileno())
    file.seek(0)
    return snapshot_of(file, name, wants_md5)


class _Writing:
    def __init__(self, root: int, target: int, wants_md5: bool) -> None:
        self._root = root
        self._target = target
        self._wants_md5 = wants_md5
        self.bytes = 0
        self.left_out: list[tuple[bytes, str]] = []

    def large(self, unit: Unit) -> tuple[Digested | None, Entry | None, bool]:
        """Copies a large file. Returns it, and as which entry it was read, None if it is gone; and whether that is the
        listed one.
        """
        (listed,) = unit.entries
        with _below.new_file(self._target, unit.name) as file:
            read, is_stable = self._large(file, listed)
            if read is not None:
                sealed = _sealed(file, unit.name, self._wants_md5)
                self.bytes += sealed.entry.bytes
                return sealed, read, is_stable
        _below.remove_file(self._target, unit.name)
        return None, None, is_stable

    def _large(self, file: BinaryIO, listed: Entry) -> tuple[Entry | None, bool]:
        before = None
        for _ in range(READS_MAX):
            try:
                with opened_file(self._root, listed.path) as fd:
                    _show_later_writes(fd)
                    before = _opened(listed, fd)
                    file.truncate(0)
                    _copy(fd, f"/dev/fd/{file.fileno()}")
                    after = _opened(listed, fd)
            except OSError as error:
                return None, self._is_same_later(listed, error)
            if before == after:
                return after, after == listed
        self.left_out.append((listed.path, "changed while it was read, and is saved as it was"))
        return before, False

    def archive(self, unit: Unit) -> tuple[Digested | None, Entry | None, bool]:
        """Writes an archive. Returns it, and whether all of its entries are as they were listed."""
        is_stable = True
        with _below.new_file(self._target, unit.name) as file:
            for entry in unit.entries:
                if entry.kind in _KINDS:
                    file.write(_header(entry))
                elif not self._add(file, entry):
                    is_stable = False
            file.write(bytes(2 * BLOCK))
            return _sealed(file, unit.name, self._wants_md5), None, is_stable

    def _add(self, file: BinaryIO, listed: Entry) -> bool:
        """Adds a file to an archive. Returns whether it is as it was listed."""
        start, count = file.tell(), 0
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
                self.bytes += count
                return after == listed
        self.bytes += count
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


def _copy(fd: int, target: PathLike) -> None:
    # The open files again, since their paths may lead elsewhere now.
    source = f"/dev/fd/{fd}"
    if stat.S_ISREG(os.fstat(fd).st_mode) and is_sparse(source):
        copy_sparse(source, target)
    else:
        copy_file(source, target)
