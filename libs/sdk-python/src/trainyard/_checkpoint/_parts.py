"""How a file is cut into parts for an object store, and the digests that the store compares.

The size of a part is the platform's too (libs/blob, ``partBytes``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, NamedTuple

from .._limits import COPY_BYTES, UPLOAD_PART_BYTES
from .._storage import FileEntry
from ._hash_lane import HashLane


class Digested(NamedTuple):
    """A file of a manifest with what an object store compares."""

    entry: FileEntry
    # SHA-256, hex, of each part; empty for a file of one part, which has that of the entry.
    parts: list[str]
    # Base64; empty where the store does not compare it.
    md5: str

    def message(self) -> dict[str, Any]:
        """The entry as proto JSON."""
        message: dict[str, Any] = self.entry.message()
        if self.md5:
            message["md5"] = self.md5
        return {**message, "partSha256": self.parts} if self.parts else message


def digest(
    folder: Path, entry: FileEntry, moved: Callable[[int], None], wants_md5: bool = True
) -> Digested:
    """Reads a sealed file once, and gives ``moved`` the bytes of each piece. Raises ChangedFileError where it is not
    the file of the manifest. The MD5 takes longer than all else, and is for stores that compare it.
    """
    # One byte more than it should have, to see whether it has that.
    found = _read(folder, entry.path, entry.bytes, 1, moved, wants_md5)
    if found.entry != entry:
        raise ChangedFileError(f"{folder / entry.path} has changed since the checkpoint was stored")
    return found


def snapshot(
    folder: Path, path: str, moved: Callable[[int], None], wants_md5: bool = True
) -> Digested:
    """Reads a file that may be growing, as long as it is now."""
    return _read(folder, path, (folder / path).stat().st_size, 0, moved, wants_md5)


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
    import base64
    import hashlib

    size, part_bytes = 0, UPLOAD_PART_BYTES
    in_parts = expected > part_bytes
    md5 = hashlib.md5(usedforsecurity=False) if wants_md5 else None
    part = hashlib.sha256()
    parts: list[str] = []
    with open(folder / path, "rb") as file, HashLane(expected) as whole:
        while True:
            # A piece ends where its part does.
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
    """A sealed file is not what its manifest says."""
