"""Downloads a version of a model, the files of a checkpoint, or the folder of a task.

Archives of the platform are unpacked as they arrive. Only regular files below one folder are written.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast
from urllib.parse import urlencode

from .._work import _unpack as saves
from ..errors import CheckpointError
from ._api import Api, segment
from ._errors import DownloadError

_CHUNK_BYTES = 1024 * 1024


def download_version(api: Api, version: Mapping[str, Any], folder: Path) -> Path:
    """Downloads a version. See ``ModelVersion.download``."""
    with new_folder(folder) as partial:
        path = f"/api/v1/checkpoints/{segment(str(version['checkpoint']))}"
        checkpoint = api.get(path)
        manifest = {
            str(one["path"]): str(one["sha256"]) for one in checkpoint.get("manifest") or []
        }
        digests = unpack(api, f"{path}/archive", partial / "checkpoint")
        _compare(manifest, digests)
        if version.get("codeDigest"):
            of = f"/api/v1/models/{segment(str(version['model']))}"
            code = f"{of}/versions/{version['number']}/code"
            unpack(api, code, partial / "code", str(version["codeDigest"]))
        for name, known in (("version.json", version), ("checkpoint.json", checkpoint)):
            (partial / name).write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
        shutil.copyfile(Path(__file__).with_name("export.md"), partial / "README.md")
    return folder


def download_files(api: Api, uuid: str, folder: Path, globs: Sequence[str]) -> Path:
    """Downloads the files of a checkpoint. See ``Checkpoint.download``."""
    with new_folder(folder) as partial:
        _fetch(api, uuid, partial, globs)
    return folder


def download_save(api: Api, task: str, folder: Path) -> Path:
    """Downloads the folder of a task from its newest intact save. See ``Task.download``."""
    query = [("filter", "state = COMPLETED"), ("order_by", "steps_completed desc")]
    listed = api.get(f"/api/v1/tasks/{segment(task)}/checkpoints", [*query, ("pageSize", "1")])
    items = listed.get("items") or []
    if not items:
        raise DownloadError(f"nothing of task {task} is saved: it has no complete save")
    uuid = str(items[0]["uuid"])
    with new_folder(folder) as partial:
        save = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            _fetch(api, uuid, save)
            saves.unpack(save, partial, moves=True)
        except CheckpointError as error:
            raise DownloadError(str(error)) from error
        finally:
            shutil.rmtree(save, ignore_errors=True)
    return folder


def _fetch(api: Api, uuid: str, folder: Path, globs: Sequence[str] = ()) -> None:
    """Downloads the files of a checkpoint and compares them with its manifest."""
    path = f"/api/v1/checkpoints/{segment(uuid)}"
    checkpoint = api.get(path)
    manifest = {str(one["path"]): str(one["sha256"]) for one in checkpoint.get("manifest") or []}
    query = f"?{urlencode([('globs', glob) for glob in globs])}" if globs else ""
    digests = unpack(api, f"{path}/archive{query}", folder)
    if globs:
        # The platform chose the files: each of them must be as recorded.
        manifest = {name: sha256 for name, sha256 in manifest.items() if name in digests}
    _compare(manifest, digests)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yields a temporary folder that gets its final name at the end. Raises FileExistsError if the final folder
    has files.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"{folder} exists: name a new or an empty folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        yield partial
        partial.replace(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _compare(manifest: Mapping[str, str], digests: Mapping[str, str]) -> None:
    for path in sorted({*manifest, *digests}):
        if path not in digests:
            raise DownloadError(f"the file {path!r} is missing")
        if path not in manifest:
            raise DownloadError(f"the file {path!r} is not in the checkpoint's manifest")
        if manifest[path] != digests[path]:
            raise DownloadError(f"the file {path!r} differs from its recorded SHA-256")


class _Hashing:
    """Computes the SHA-256 of a stream while it is read."""

    def __init__(self, body: BinaryIO) -> None:
        self._body = body
        self.sha256 = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        chunk = self._body.read(size)
        self.sha256.update(chunk)
        return chunk


def unpack(api: Api, path: str, folder: Path, packed: str = "") -> dict[str, str]:
    """Unpacks an archive and returns the SHA-256 of each written file, by path. ``packed`` is the archive's
    SHA-256, if known.
    """
    digests: dict[str, str] = {}
    folder.mkdir(exist_ok=True)
    try:
        with api.download(path) as body:
            hashing = _Hashing(body)
            with tarfile.open(fileobj=cast("BinaryIO", hashing), mode="r|gz") as archive:
                for member in archive:
                    if not member.isdir():
                        name = _inside(member)
                        digests[str(name)] = _write(archive, member, folder / name)
            while hashing.read(_CHUNK_BYTES):
                pass
            if packed and hashing.sha256.hexdigest() != packed:
                raise DownloadError("the model code differs from its recorded SHA-256")
    except (tarfile.TarError, zlib.error, EOFError) as error:
        raise DownloadError(f"the download broke off: {error}") from error
    return digests


def _write(archive: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> str:
    content = archive.extractfile(member)
    if content is None:
        raise DownloadError(f"{member.name!r} is not a file")
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with target.open("xb") as out:
        while chunk := content.read(_CHUNK_BYTES):
            digest.update(chunk)
            out.write(chunk)
    return digest.hexdigest()


def _inside(member: tarfile.TarInfo) -> PurePosixPath:
    path = PurePosixPath(member.name)
    if not member.isfile() or path.is_absolute() or ".." in path.parts:
        raise DownloadError(f"{member.name!r} is not a file inside the version")
    return path
