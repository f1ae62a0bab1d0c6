"""Uploads a local folder as a checkpoint without a trial. Its files go to the cluster's storage, like a run's.

The checkpoint's id is computed from the cluster's log and the names and contents of the files. Thus a retry after
an interruption continues the same upload, and a folder that was uploaded before is not sent again. Two clusters
that share a storage have different ids for the same folder. If the id cannot be used (its upload failed, or it was
deleted), the next id of the same content is used.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .. import _storage_marker
from .._checkpoint._parts import ChangedFileError
from .._checkpoint._transfer import TransferError
from .._checkpoint._uploader import Order, RefusedError, Uploader
from .._files import sync_folder
from .._limits import CHECKPOINT_FILES_MAX, SEAL_LANES
from .._storage import FileEntry, check_manifest, entry_of_file, files_of
from ._api import Api
from ._errors import ApiError, UploadError

# An interrupted upload is retried at most this often, each time for the missing parts only.
_ATTEMPTS = 5
_AGAIN_S = 2.0
# The number of ids tried for one content: an id is used up by a failed upload or a deletion.
_IDS_MAX = 100
# Answers that mean that the id of the folder's content cannot be used.
_TAKEN = (
    "checkpoint_exists",
    "checkpoint_failed",
    "checkpoint_abandoned",
    "checkpoint_deleted",
    "checkpoint_damaged",
)
_OPEN = ("checkpoint_not_found", "checkpoint_not_complete")


def upload_folder(api: Api, folder: Path) -> str:
    """Uploads a folder, unless it was uploaded before, and returns the UUID of its complete checkpoint."""
    paths = _paths(folder)
    with ThreadPoolExecutor(SEAL_LANES) as lanes:
        manifest = list(lanes.map(lambda path: entry_of_file(folder, path), paths))
    check_manifest(folder, manifest)
    log = str(api.get("/api/v1/version").get("log") or "")
    for attempt in range(_IDS_MAX):
        checkpoint = _id_of(log, manifest, attempt)
        try:
            if _is_complete(api, checkpoint, manifest):
                return checkpoint
            declaration = {
                "checkpoint": checkpoint,
                "metadata": {"uploaded_from": folder.resolve().name},
            }
            declared = api.call("POST", "/api/v1/checkpoints", declaration)
        except ApiError as error:
            if error.code not in _TAKEN:
                raise
            continue
        if declared.get("store"):
            entries = _send(api, checkpoint, folder, manifest, str(declared["store"]))
        else:
            _copy(api, declaration, Path(str(declared["path"])), folder, manifest)
            entries = [entry.message() for entry in manifest]
        api.call("POST", f"/api/v1/checkpoints/{checkpoint}/complete", {"manifest": entries})
        return checkpoint
    raise UploadError(
        f"{folder} could not be uploaded: its {_IDS_MAX} ids are used up; change a file"
    )


def _paths(folder: Path) -> Sequence[str]:
    """Returns the files of the folder. Raises ValueError with the name of a file that cannot be uploaded."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder")
    own = os.path.realpath(folder)
    count = 0
    for parent, folders, files in os.walk(folder, onerror=_raise):
        count += len(files)
        if count > CHECKPOINT_FILES_MAX:
            raise ValueError(
                f"{folder} holds more than {CHECKPOINT_FILES_MAX:,} files: pack them into one, as a tar"
            )
        for name in (*folders, *files):
            path = os.path.join(parent, name)
            if os.path.islink(path) and not os.path.realpath(path).startswith(own + os.sep):
                raise ValueError(
                    f"{path!r} is a link out of the folder: put the file in its place (cp -rL copies what links name)"
                )
    paths = files_of(folder)
    if not paths:
        raise ValueError(f"{folder} has no files")
    return paths


def _raise(error: OSError) -> None:
    if error.errno == errno.ENAMETOOLONG:
        raise ValueError(f"{str(error.filename)[:100]!r}… has too long a path") from error
    raise error


def _id_of(log: str, manifest: Sequence[FileEntry], attempt: int) -> str:
    text = json.dumps([list(entry) for entry in manifest])
    digest = hashlib.sha256(f"trainyard folder {log} {attempt} {text}".encode()).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))


def _is_complete(api: Api, checkpoint: str, manifest: Sequence[FileEntry]) -> bool:
    """Whether the checkpoint is complete. Raises ApiError if its id cannot be used."""
    try:
        plan = api.get(f"/api/v1/checkpoints/{quote(checkpoint)}/plan")
    except ApiError as error:
        if error.code in _OPEN:
            return False
        raise
    files = {(str(one["path"]), str(one["sha256"])) for one in plan.get("manifest") or []}
    if files == {(entry.path, entry.sha256) for entry in manifest}:
        return True
    raise ApiError(409, "checkpoint_exists", f"checkpoint {checkpoint} has other files")


def _send(
    api: Api, checkpoint: str, folder: Path, manifest: Sequence[FileEntry], store: str
) -> list[dict[str, Any]]:
    """Uploads the missing parts, and returns the manifest with the digests that the store verifies."""
    files = [entry.message() for entry in manifest]
    order = Order(api.url, api.token, "", checkpoint, folder, files, store)
    for attempt in range(1, _ATTEMPTS + 1):
        uploader = Uploader(order)
        try:
            uploader.upload()
            # The uploader has the digests after it has sent the files.
            return uploader.manifest or files
        except TransferError as error:
            if attempt == _ATTEMPTS:
                raise UploadError(
                    f"{folder} could not be sent to {store}: {error}; a repeat sends what is missing"
                ) from error
            time.sleep(_AGAIN_S * attempt)
        except (RefusedError, ChangedFileError) as error:
            raise UploadError(f"{folder} could not be sent to {store}: {error}") from error
    raise AssertionError


def _copy(
    api: Api,
    declaration: dict[str, Any],
    target: Path,
    folder: Path,
    manifest: Sequence[FileEntry],
) -> None:
    """Writes the files to a directory storage, which this host must see."""
    root = target.parent
    if not target.is_absolute() or target.name != declaration["checkpoint"]:
        raise UploadError(f"the platform named an invalid checkpoint folder: {str(target)!r}")
    if not root.is_dir():
        raise UploadError(
            f"the cluster keeps checkpoints in the directory {root}, which this host does not have: "
            "run this on a host where it is mounted, or keep checkpoints in an object store"
        )
    try:
        marked = {"storageId": _storage_marker.mark(root)}
    except _storage_marker.MarkerError as error:
        raise UploadError(str(error)) from error
    # The platform's answer names the storage, so its id is sent with a second declaration.
    api.call("POST", "/api/v1/checkpoints", {**declaration, **marked})
    # The temporary folder has a checkpoint's name, so that an audit finds it after a crash.
    stage = root / str(uuid.uuid4())
    try:
        for entry in manifest:
            _copy_file(folder / entry.path, stage / entry.path)
        # Another upload of the same content may have finished first: its files are kept.
        if not target.is_dir() or not any(target.iterdir()):
            os.rename(stage, target)
            sync_folder(root)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _copy_file(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with source.open("rb") as read, target.open("xb") as write:
        shutil.copyfileobj(read, write, 1 << 20)
        write.flush()
        os.fsync(write.fileno())
    sync_folder(target.parent)
