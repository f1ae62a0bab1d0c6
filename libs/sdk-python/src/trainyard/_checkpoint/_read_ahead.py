"""Has the platform read the large files of a checkpoint while this process hashes them and writes them to disk.

The platform and this process each hash every byte in about the same time: doing it at once halves the wait. The
request is optional: if it fails, the platform reads the files when the checkpoint is completed.
"""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

from .. import _values
from .._http import HttpConnection, UnreachableError
from .._limits import (
    HASH_LANE_BYTES_MIN,
    READ_AHEAD_BYTES_MIN,
    READ_AHEAD_FILES_MAX,
    READ_AHEAD_TIMEOUT_S,
)
from .._storage import files_of


def worth_reading(folder: Path) -> list[str]:
    """Returns the relative paths of the largest files of a folder, largest first; none if the folder is small."""
    sizes = {path: os.stat(folder / path).st_size for path in files_of(folder)}
    large = [path for path, size in sizes.items() if size >= HASH_LANE_BYTES_MIN]
    if sum(sizes[path] for path in large) < READ_AHEAD_BYTES_MIN:
        return []
    return sorted(large, key=lambda path: -sizes[path])[:READ_AHEAD_FILES_MAX]


def ask(url: str, token: str, path: str, files: list[str]) -> None:
    """Posts file names in a separate thread, without waiting for it."""

    def post() -> None:
        connection = HttpConnection(url, token, READ_AHEAD_TIMEOUT_S)
        with contextlib.suppress(UnreachableError), contextlib.closing(connection):
            connection.request("POST", path, _values.encode({"paths": files}))

    threading.Thread(target=post, name="trainyard-read-ahead", daemon=True).start()
