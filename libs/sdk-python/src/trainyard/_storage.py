"""Copies, hashes and syncs the files of a checkpoint, and verifies them when they are read.

A checkpoint is a folder of regular files. Its manifest has the path, size and SHA-256 of each file. The platform
completes a checkpoint only when every file in the folder matches, so a truncated file is never restored.

``hashlib`` and ``shutil`` are imported by the first checkpoint, since every import here delays the script's start.
"""

from __future__ import annotations

import functools
import json
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Callable, NamedTuple

from . import _storage_marker
from ._files import copy_file, copy_sparse, is_sparse, sync_folder
from ._limits import (
    CHECKPOINT_FILES_MAX,
    COPY_BYTES,
    MANIFEST_BYTES_MAX,
    SEAL_LANES,
    UPLOAD_MANIFEST_BYTES_MAX,
    UPLOAD_PART_BYTES,
)
from .errors import CheckpointError


class DamagedError(CheckpointError):
    """Files of a complete checkpoint are missing or changed, as far as this machine sees."""


METADATA = "metadata.json"

Selector = Callable[[str], bool]
Opener = Callable[[str], "AbstractContextManager[BinaryIO]"]

_NOT_A_FILE = (FileNotFoundError, NotADirectoryError, IsADirectoryError)


class FileEntry(NamedTuple):
    """A file in a manifest."""

    path: str
    bytes: int
    sha256: str

    def message(self) -> dict[str, Any]:
        """The manifest entry as proto JSON."""
        return {"path": self.path, "bytes": self.bytes, "sha256": self.sha256}


class Plan(NamedTuple):
    """The location and the contents of a complete checkpoint."""

    path: Path
    manifest: list[FileEntry]
    metadata: dict[str, Any]
    # The id of the checkpoint's storage; empty if unknown.
    storage_id: str = ""
    # The address of the object store that has the files; empty for a folder.
    store: str = ""


def files_of(folder: Path) -> list[str]:
    """Returns the files under a folder as sorted relative paths, following links. Raises ValueError for anything
    that a checkpoint cannot store.
    """
    entries = sorted(_walk(folder, PurePosixPath(), ()))
    if len(entries) > CHECKPOINT_FILES_MAX:
        raise _too_many(folder, len(entries))
    return entries


def _too_many(folder: Path, count: int) -> ValueError:
    return ValueError(
        f"{folder} holds {count:,} files; "
        f"a checkpoint holds at most {CHECKPOINT_FILES_MAX:,}: pack them"
    )


def _walk(folder: Path, inside: PurePosixPath, above: tuple[str, ...]) -> Iterator[str]:
    real = os.path.realpath(folder)
    if real in above:
        raise ValueError(f"{folder} is a link to a folder that contains it, so it cannot be stored")
    with os.scandir(folder) as entries:
        for entry in entries:
            path = inside / entry.name
            if entry.is_dir():
                yield from _walk(folder / entry.name, path, (*above, real))
            elif entry.is_file():
                yield _storable(str(path), folder)
            else:
                raise ValueError(
                    f"{folder / entry.name} is neither a file nor a folder, so it cannot be stored"
                )


def _storable(path: str, folder: Path) -> str:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(
            f"the name {path!r} in {folder} is not UTF-8, so it cannot be stored"
        ) from None
    return path


def copy_in(source: Path, target: Path, selector: Selector | None) -> None:
    """Copies the selected files of ``source`` into the checkpoint's folder, following links, without modes."""
    for path in files_of(source):
        if path == METADATA:
            if not is_own_metadata(source / path):
                raise ValueError(f"{source / path}: this name is reserved for the SDK: use another")
        elif selector is None or selector(path):
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            if is_sparse(source / path):
                copy_sparse(source / path, target / path)
            else:
                copy_file(source / path, target / path)


def is_own_metadata(path: Path) -> bool:
    """Whether a ``metadata.json`` came from an earlier checkpoint, so that it may be replaced."""
    try:
        content = json.loads(path.read_bytes())
    except ValueError:
        return False
    return isinstance(content, dict) and "steps_completed" in content


def write_metadata(folder: Path, metadata: dict[str, Any]) -> None:
    """Writes the metadata file. Raises ValueError if the script has written a file of that name."""
    path = folder / METADATA
    if path.exists() and not is_own_metadata(path):
        raise ValueError(f"{path}: this name is reserved for the SDK: use another")
    path.write_text(json.dumps(metadata, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def replace_links(folder: Path) -> None:
    """Replaces links by copies of their targets: a target may change after the checkpoint is complete."""
    import shutil

    for path in files_of(folder):
        _replace_link_to_folder(folder, PurePosixPath(path))
        file = folder / path
        if file.is_symlink():
            copy = file.with_name(f".{file.name}.{os.getpid()}.copy")
            shutil.copyfile(file, copy)
            os.replace(copy, file)


def _replace_link_to_folder(folder: Path, path: PurePosixPath) -> None:
    import shutil

    # The parent folders from the outermost inwards, without the checkpoint's folder.
    for parent in list(reversed(path.parents))[1:]:
        link = folder / parent
        if link.is_symlink():
            copy = link.with_name(f".{link.name}.{os.getpid()}.copy")
            shutil.copytree(link, copy)
            link.unlink()
            os.replace(copy, link)


def seal(folder: Path, entry_of: Callable[[Path, str], FileEntry] | None = None) -> list[FileEntry]:
    """Syncs the folder's files to disk and returns their manifest. ``entry_of`` reads one file; several threads
    call it.
    """
    from concurrent.futures import ThreadPoolExecutor

    paths = files_of(folder)
    with ThreadPoolExecutor(SEAL_LANES) as lanes:
        # Files are synced in threads while others, or the same ones, are hashed.
        synced = [lanes.submit(_sync, folder / path) for path in paths]
        read = entry_of or entry_of_file
        manifest = list(lanes.map(lambda path: read(folder, path), paths))
        for one in synced:
            one.result()
    check_manifest(folder, manifest)
    for parent, _, _ in os.walk(folder):
        sync_folder(parent)
    # Syncs the name of the folder itself.
    sync_folder(folder.parent)
    return manifest


def check_manifest(folder: Path, manifest: list[FileEntry]) -> None:
    """Raises ValueError for a manifest that does not fit into a message."""
    if len(manifest) > CHECKPOINT_FILES_MAX:
        raise _too_many(folder, len(manifest))
    size = len(json.dumps([entry.message() for entry in manifest], ensure_ascii=False).encode())
    if size > MANIFEST_BYTES_MAX:
        raise ValueError(
            f"the manifest of {folder} has {size:,} bytes; "
            f"at most {MANIFEST_BYTES_MAX:,} can be stored: pack the files, or shorten their paths"
        )


def check_uploaded(folder: Path, manifest: list[FileEntry]) -> None:
    """Raises ValueError for a manifest that, with an object store's digests, does not fit into a message."""
    size = sum(_uploaded_bytes(entry) for entry in manifest)
    if size > UPLOAD_MANIFEST_BYTES_MAX:
        raise ValueError(
            f"the manifest of {folder} has {size:,} bytes with the digests of all parts of "
            f"{UPLOAD_PART_BYTES >> 20} MiB; at most {UPLOAD_MANIFEST_BYTES_MAX:,} can be stored, "
            "about 850 GiB of files: pack small files, and store less in one checkpoint"
        )


def _uploaded_bytes(entry: FileEntry) -> int:
    # The size includes an MD5, quotes and commas, as the registry counts it.
    fields = {**entry.message(), "partSha256": [], "md5": "=" * 24}
    whole = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
    parts = -(-entry.bytes // UPLOAD_PART_BYTES)
    return len(whole) + 1 + (67 * parts if parts > 1 else 0)


def seal_file(folder: Path, path: str) -> FileEntry:
    """Syncs one file to disk and returns its manifest entry."""
    _sync(folder / path)
    return entry_of_file(folder, path)


def _sync(file: Path) -> None:
    with open(file, "rb") as opened:
        os.fsync(opened.fileno())


def entry_of_file(folder: Path, path: str) -> FileEntry:
    """Reads one file and returns its manifest entry."""
    with open(folder / path, "rb") as file:
        digest, size = _digest(file)
    return FileEntry(path, size, digest)


def _digest(
    file: BinaryIO, target: BinaryIO | None = None, bytes_max: int = sys.maxsize
) -> tuple[str, int]:
    """The digest and the size of a file, which ends for the caller after ``bytes_max``. Copies it into another."""
    import hashlib

    sha256 = hashlib.sha256()
    size = 0
    while True:
        piece = file.read(min(COPY_BYTES, bytes_max - size))
        if not piece:
            return sha256.hexdigest(), size
        sha256.update(piece)
        size += len(piece)
        if target is not None:
            target.write(piece)


def copy_out(
    uuid: str,
    plan: Plan,
    target: Path,
    selector: Selector | None,
    opened: Opener | None = None,
) -> None:
    """Copies the selected files of a checkpoint into a folder and verifies each against the manifest. ``opened`` opens
    a file of the checkpoint, as where others may replace it.
    """
    opened = opened or functools.partial(_opened, plan.path)
    for entry in plan.manifest:
        if entry.path != METADATA and selector is not None and not selector(entry.path):
            continue
        destination = target / inside(uuid, entry.path)
        destination.parent.mkdir(parents=True, exist_ok=True)
        try:
            with opened(entry.path) as file, open(destination, "wb") as copy:
                # A byte more than expected shows a longer file, which may be endless.
                digest, size = _digest(file, copy, entry.bytes + 1)
                size = max(size, os.fstat(file.fileno()).st_size)
        except _NOT_A_FILE as error:
            raise _damaged(uuid, entry, "is missing") from error
        if size != entry.bytes or digest != entry.sha256:
            destination.unlink()
            raise _changed(uuid, entry, size)


def _opened(folder: Path, path: str) -> BinaryIO:
    return open(folder / path, "rb")


def check_sizes(uuid: str, plan: Plan) -> None:
    """Checks that each file of a checkpoint exists in its size, without reading the contents."""
    for entry in plan.manifest:
        try:
            status = os.stat(plan.path / inside(uuid, entry.path))
        except _NOT_A_FILE as error:
            raise _damaged(uuid, entry, "is missing") from error
        if not stat.S_ISREG(status.st_mode) or status.st_size != entry.bytes:
            raise _damaged(uuid, entry, f"has {status.st_size} bytes instead of {entry.bytes}")


def check_contents(uuid: str, plan: Plan) -> None:
    """Compares each file of a checkpoint with its SHA-256."""
    for entry in plan.manifest:
        try:
            with open(plan.path / inside(uuid, entry.path), "rb") as file:
                digest, size = _digest(file)
        except _NOT_A_FILE as error:
            raise _damaged(uuid, entry, "is missing") from error
        if size != entry.bytes or digest != entry.sha256:
            raise _changed(uuid, entry, size)


def check_visible(uuid: str, plan: Plan) -> None:
    """Raises CheckpointError if this machine does not see the checkpoint's storage."""
    root = plan.path.parent
    storage_id = _storage_marker.seen(root) if plan.storage_id else ""
    if storage_id and storage_id != plan.storage_id:
        raise CheckpointError(
            f"checkpoint {uuid} is in storage {plan.storage_id}, and this machine sees storage {storage_id} "
            f"at {root}: mount the same storage there"
        )
    if not plan.path.is_dir():
        raise DamagedError(
            f"checkpoint {uuid} is in {plan.path}, which does not exist on this machine: "
            "is the storage mounted here?"
        )


def inside(uuid: str, path: str) -> str:
    """The relative path of a manifest's file. Raises CheckpointError for a path outside of the folder."""
    parts = PurePosixPath(path).parts
    if not parts or parts[0] == "/" or ".." in parts:
        raise CheckpointError(
            f"the manifest of checkpoint {uuid} names {path!r}, which is outside its folder"
        )
    return path


def _changed(uuid: str, entry: FileEntry, size: int) -> DamagedError:
    change = f"has {size} bytes, and its content differs from the stored one"
    return _damaged(uuid, entry, change)


def _damaged(uuid: str, entry: FileEntry, damage: str) -> DamagedError:
    return DamagedError(f"checkpoint {uuid} is damaged: {entry.path} {damage}")
