"""Divides the entries of a folder into the files of a save, and knows which of them an earlier save has."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote

from .._limits import UPLOAD_PART_BYTES
from ._limits import (
    ARCHIVE_BYTES_MAX,
    ARCHIVE_BYTES_MIN,
    ARCHIVE_ENDS_AT_ONE_OF,
    ARCHIVES_MAX,
    LARGE_BYTES,
    LARGE_FILES_MAX,
    LARGE_MANIFEST_BYTES,
    NAME_BYTES_MAX,
    SAME_TIME_NS,
    STORED_PATH_CHARACTERS_MAX,
)
from ._scan import FILE, Entry

_BLOCK = 512


class Unit(NamedTuple):
    """One file of a save: an archive of entries, or one large file."""

    name: str
    is_large: bool
    entries: list[Entry]
    # Equal in two saves if the content is. Empty if an entry may have changed without a sign of it.
    key: str


def units_of(entries: list[Entry], now_ns: int) -> list[Unit]:
    """The files of a save. ``now_ns`` is the time before the entries were listed."""
    large, small, room = [], [], LARGE_MANIFEST_BYTES
    for entry in entries:
        name = stored_name(entry.path)
        room_of = _manifest_bytes(name, entry.size)
        is_large = entry.kind == FILE and entry.size >= LARGE_BYTES and _is_storable(name)
        if not is_large or len(large) == LARGE_FILES_MAX or room < room_of:
            small.append(entry)
        else:
            room -= room_of
            large.append(Unit(name, True, [entry], _key([entry], now_ns, with_path=False)))
    archives = [
        Unit(f"small-{number}.tar", False, part, _key(part, now_ns, with_path=True))
        for number, part in enumerate(_archives(small), 1)
    ]
    return [*archives, *large]


def fingerprint(entries: Iterable[Entry], now_ns: int) -> str:
    """Equal for two listings if nothing has changed between them; empty if that is unknown."""
    return _key(entries, now_ns, with_path=True)


def stored_name(path: bytes) -> str:
    """The name of a large file in a save: readable where the path is."""
    text = os.fsdecode(path)
    plain = (c if c.isprintable() and c not in "%\\" else quote(os.fsencode(c)) for c in text)
    return f"files/{''.join(plain)}"


def _is_storable(name: str) -> bool:
    parts = (len(part.encode()) for part in name.split("/"))
    return len(name) <= STORED_PATH_CHARACTERS_MAX and max(parts) <= NAME_BYTES_MAX


def _manifest_bytes(name: str, size: int) -> int:
    parts = -(-size // UPLOAD_PART_BYTES)
    return 170 + len(name.encode()) + (67 * parts if parts > 1 else 0)


def _archives(entries: list[Entry]) -> list[list[Entry]]:
    """The entries of each archive, at least one archive."""
    total = sum(map(_archived_bytes, entries))
    # Beyond the number of archives that a checkpoint may have, all of them are larger.
    factor = max(1.0, total / (ARCHIVES_MAX * ARCHIVE_BYTES_MIN))
    least, most = ARCHIVE_BYTES_MIN * factor, ARCHIVE_BYTES_MAX * factor
    archives: list[list[Entry]] = [[]]
    size = 0
    for entry in entries:
        more = _archived_bytes(entry)
        if archives[-1] and (size + more > most or (size >= least and _may_begin(entry.path))):
            archives.append([])
            size = 0
        archives[-1].append(entry)
        size += more
    return archives


def _may_begin(path: bytes) -> bool:
    drawn = int.from_bytes(hashlib.sha256(path).digest()[:8], "big")
    return drawn % ARCHIVE_ENDS_AT_ONE_OF == 0


def _archived_bytes(entry: Entry) -> int:
    return _BLOCK + entry.size + -entry.size % _BLOCK


def _key(entries: Iterable[Entry], now_ns: int, *, with_path: bool) -> str:
    digest = hashlib.sha256()
    for entry in entries:
        if entry.ctime_ns >= now_ns - SAME_TIME_NS:
            return ""
        told = entry if with_path else entry._replace(path=b"", mode=0)
        digest.update(repr(tuple(told)).encode())
    return digest.hexdigest()
