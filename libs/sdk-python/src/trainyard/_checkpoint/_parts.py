"""Splits a file into parts for an object store, and computes the digests that the store verifies.

The part size must equal the platform's (libs/blob, ``partBytes``).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, BinaryIO, Callable, NamedTuple

from .._limits import COPY_BYTES, UPLOAD_PART_BYTES
from .._storage import FileEntry
from ._hash_lane import HashLane


class Digested(NamedTuple):
    """A file of a manifest with the digests that an object store verifies."""

    entry: FileEntry
    # SHA-256 of each part in hex; empty for a file of one part, whose digest is the entry's.
    parts: list[str]
    # MD5 in Base64; empty for a store that does not verify it.
    md5: str

    def message(self) -> dict[str, Any]:
        """The manifest entry as proto JSON."""
        message: dict[str, Any] = self.entry.message()
        if self.md5:
            message["md5"] = self.md5
        return {**message, "partSha256": self.parts} if self.parts else message


def digest(
    folder: Path, entry: FileEntry, moved: Callable[[int], None], wants_md5: bool = True
) -> Digested:
    """Reads a sealed file once, and calls ``moved`` with the byte count of each piece. Raises ChangedFileError if
    the file differs from its manifest entry. ``wants_md5``: computing the MD5 is slow and only needed for stores
    that verify it.
    """
    # One byte more than the expected size is read, to detect a longer file.
    digested = _read(folder, entry.path, entry.bytes, 1, moved, wants_md5)
    if digested.entry != entry:
        raise ChangedFileError(f"{folder / entry.path} has changed since the checkpoint was stored")
    return digested


def snapshot(
    folder: Path, path: str, moved: Callable[[int], None], wants_md5: bool = True
) -> Digested:
    """Reads a file that may be growing, up to its size at the time of the call."""
    return _read(folder, path, (folder / path).stat().st_size, 0, moved, wants_md5)


def snapshot_of(file: BinaryIO, path: str, wants_md5: bool = True) -> Digested:
    """Reads an open file, up to its size at the time of the call. ``path`` is its path in the manifest."""
    size = os.fstat(file.fileno()).st_size
    return _read_file(file, path, size, 0, lambda count: None, wants_md5)


def beginning(
    folder: Path, path: str, count: int, moved: Callable[[int], None], wants_md5: bool = True
) -> Digested:
    """Reads the first ``count`` bytes of a file."""
    return _read(folder, path, count, 0, moved, wants_md5)


def _read(
    folder: Path,
    path: str,
    expected: int,
    beyond: int,
    moved: Callable[[int], None],
    wants_md5: bool,
) -> Digested:
    with open(folder / path, "rb") as file:
        return _read_file(file, path, expected, beyond, moved, wants_md5)


def _read_file(
    file: BinaryIO,
    path: str,
    expected: int,
    beyond: int,
    moved: Callable[[int], None],
    wants_md5: bool,
) -> Digested:
    import base64
    import hashlib

    size, part_bytes = 0, UPLOAD_PART_BYTES
    in_parts = expected > part_bytes
    md5 = hashlib.md5(usedforsecurity=False) if wants_md5 else None
    part = hashlib.sha256()
    parts: list[str] = []
    with HashLane(expected) as whole:
        while True:
            # A piece never crosses the end of its part.
            most = min(COPY_BYTES, part_bytes - size % part_bytes, expected + beyond - size)
            piece = file.read(most)
            if not piece:
                break
            size += len(piece)
            moved(len(piece))
            whole.update(piece)
            if md5 is not None:
                md5.update(piece)
            if in_parts:
                part.update(piece)
                if size % part_bytes == 0 or size == expected:
                    parts.append(part.hexdigest())
                    part = hashlib.sha256()
        entry = FileEntry(path, size, whole.hexdigest())
    compared = "" if md5 is None else base64.b64encode(md5.digest()).decode("ascii")
    return Digested(entry, parts, compared)


class ChangedFileError(Exception):
    """A sealed file differs from its manifest entry."""
