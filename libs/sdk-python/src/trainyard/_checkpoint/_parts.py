"""How a file is cut into parts for an object store, and the digests that the store compares.

The size of a part is the platform's too (libs/blob, ``partBytes``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, NamedTuple

from .._limits import COPY_BYTES, UPLOAD_PART_BYTES
from .._storage import FileEntry


class Digested(NamedTuple):
    """A file of a manifest with what an object store compares."""

    entry: FileEntry
    # SHA-256, hex, of each part; empty for a file of one part, which has that of the entry.
    parts: list[str]
    # Base64.
    md5: str

    def message(self) -> dict[str, Any]:
        """Its proto JSON."""
        message: dict[str, Any] = {**self.entry.message(), "md5": self.md5}
        return {**message, "partSha256": self.parts} if self.parts else message


def digest(folder: Path, entry: FileEntry, moved: Callable[[int], None]) -> Digested:
    """Reads a sealed file once, and gives ``moved`` the bytes of each piece. Raises ChangedFileError where it is not
    the file of the manifest.
    """
    # One byte more than it should have, to see whether it has that.
    found = _read(folder, entry.path, entry.bytes, 1, moved)
    if found.entry != entry:
        raise ChangedFileError(f"{folder / entry.path} has changed since the checkpoint was stored")
    return found


def snapshot(folder: Path, path: str, moved: Callable[[int], None]) -> Digested:
    """Reads a file that may be growing, as long as it is now."""
    return _read(folder, path, (folder / path).stat().st_size, 0, moved)


def _read(
    folder: Path, path: str, expected: int, beyond: int, moved: Callable[[int], None]
) -> Digested:
    import base64
    import hashlib

    size, part_bytes = 0, UPLOAD_PART_BYTES
    in_parts = expected > part_bytes
    md5 = hashlib.md5(usedforsecurity=False)
    whole, part = hashlib.sha256(), hashlib.sha256()
    parts: list[str] = []
    with open(folder / path, "rb") as file:
        while True:
            # A piece ends where its part does.
            most = min(COPY_BYTES, part_bytes - size % part_bytes, expected + beyond - size)
            piece = file.read(most)
            if not piece:
                break
            size += len(piece)
            moved(len(piece))
            md5.update(piece)
            whole.update(piece)
            if in_parts:
                part.update(piece)
                if size % part_bytes == 0 or size == expected:
                    parts.append(part.hexdigest())
                    part = hashlib.sha256()
    entry = FileEntry(path, size, whole.hexdigest())
    return Digested(entry, parts, base64.b64encode(md5.digest()).decode("ascii"))


class ChangedFileError(Exception):
    """A sealed file is not what its manifest says."""
