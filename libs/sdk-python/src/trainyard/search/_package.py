"""The training code as the platform takes it: a gzip-compressed tar, the same bytes for the same files."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
from pathlib import Path

from ._ignored import ALWAYS, Rules
from ._limits import CONTEXT_BYTES_MAX, CONTEXT_FILES_MAX

_RULES = (".trainyardignore", ".detignore")


def packed(folder: Path) -> bytes:
    """All files below the folder, save what its .trainyardignore and .detignore leave out."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder of training code")
    content = io.BytesIO()
    # Neither the time nor a file's name goes into the head.
    with gzip.GzipFile(filename="", fileobj=content, mode="wb", mtime=0, compresslevel=6) as zipped:
        with tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for path in _files(folder):
                tar.add(folder / path, arcname=path, recursive=False, filter=_portable)
    if content.tell() > CONTEXT_BYTES_MAX:
        raise ValueError(f"{folder} is over {CONTEXT_BYTES_MAX >> 20} MiB packed")
    return content.getvalue()


def _files(folder: Path) -> list[str]:
    rules = Rules([*ALWAYS, *(line for name in _RULES for line in _lines(folder / name))])
    paths: list[str] = []
    for inside, folders, files in os.walk(folder):

        def path(name: str, inside: str = inside) -> str:
            return Path(inside, name).relative_to(folder).as_posix()

        folders[:] = sorted(name for name in folders if not rules.leave_out(path(name), True))
        paths += [path(name) for name in files if not rules.leave_out(path(name), False)]
        if len(paths) > CONTEXT_FILES_MAX:
            raise ValueError(
                f"{folder} has more than {CONTEXT_FILES_MAX} files: is it the right folder?"
            )
    return sorted(paths)


def _lines(file: Path) -> list[str]:
    return file.read_text("utf-8").splitlines() if file.exists() else []


def _portable(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = 0, 0, 0, "", ""
    return entry
