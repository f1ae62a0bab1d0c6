"""Packs training code in the form that the platform accepts: a gzip-compressed tar, with the same bytes for the
same files.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from .._files import PathLike
from ..errors import TrainyardError
from ._ignored import ALWAYS, Rules, lines_of
from ._tar import tar_of

# The file limit of the command line: it detects a wrong folder before packing.
FILES_MAX = 50_000
# The largest packed size that the platform accepts.
BYTES_MAX = 96 * 1024 * 1024
# The number of largest files that the refusal of a larger folder names.
LARGEST_NAMED = 3
STARTUP_HOOK = "startup-hook.sh"
_RULES = (".trainyardignore", ".detignore")


class CodeError(TrainyardError, ValueError):
    """The folder of training code cannot be packed."""


class PackedCode(NamedTuple):
    """An archive, with the names of its files, links and empty folders."""

    content: bytes
    names: list[str]


def packed(folder: PathLike, includes: Iterable[PathLike] = ()) -> PackedCode:
    """Packs all files below the folder, except ignored ones (.trainyardignore and .detignore). Each file or folder
    of ``includes`` is added at the top under its name; a folder uses its own ignore files. Raises CodeError for a
    folder that cannot be packed.
    """
    root = Path(folder)
    if not root.exists():
        raise CodeError(f"The context folder {root} does not exist.")
    if not root.is_dir():
        raise CodeError(f"The context {root} is not a folder.")
    try:
        files = {name: root / name for name in _below(root)}
        for extra in includes:
            _include(Path(extra), files, root)
        # An empty folder is archived as the folder itself.
        entries = [(_entry(name), os.fspath(path)) for name, path in files.items()]
        content = _zipped(entries or [("./", os.fspath(root))], root)
    except OSError as error:
        raise CodeError(f"The context {root} cannot be read: {error}.") from error
    return PackedCode(content, list(files))


def rules_of(folder: Path) -> Rules:
    """The ignore rules of a folder, for paths relative to it."""
    return Rules([*ALWAYS, *(line for name in _RULES for line in _lines(folder / name))])


def _include(extra: Path, files: dict[str, Path], root: Path) -> None:
    # resolve() finds the name of "." and of paths like "x/..".
    name = extra.resolve().name if extra.name in ("", "..") else extra.name
    if not os.path.lexists(extra):
        raise CodeError(f"The file {extra} to include does not exist.")
    if any(one == name or one.startswith(f"{name}/") for one in files):
        raise CodeError(f"{extra} cannot be included: {root} has {name} too.")
    if extra.is_dir():
        files.update({f"{name}/{inside}": extra / inside for inside in _below(extra)})
    else:
        files[name] = extra
    _check_count(len(files), root)


def _below(folder: Path) -> list[str]:
    """The relative paths of files, links and empty folders below the folder, in the command line's order."""
    rules = rules_of(folder)
    names: list[str] = []

    def visit(inside: str) -> None:
        with os.scandir(folder / inside) as scan:
            entries = sorted(scan, key=lambda entry: _order(entry.name))
        for entry in entries:
            name = f"{inside}/{entry.name}" if inside else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if rules.leave_out(name, is_folder):
                continue
            _require_utf8(entry.name, folder)
            if is_folder:
                visit(name)
            elif entry.is_symlink() or entry.is_file():
                names.append(name)
            _check_count(len(names), folder)
        if not entries and inside:
            names.append(inside)

    visit("")
    return names


def _check_count(files: int, folder: Path) -> None:
    if files > FILES_MAX:
        raise CodeError(
            f"The context has more than {FILES_MAX} files: is {folder} the right folder?"
        )


def _order(name: str) -> bytes:
    """JavaScript compares strings by UTF-16 code units."""
    return name.encode("utf-16-be", "surrogatepass")


def _require_utf8(name: str, folder: Path) -> None:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        shown = os.fsencode(name).decode("utf-8", "replace")
        problem = f"the name {shown} is not UTF-8"
        raise CodeError(f"The context {folder} cannot be read: {problem}.") from None


def _entry(name: str) -> str:
    """Adds ./ to names that npm's packer would misread, as the command line does: with a leading @ (an archive),
    or like a Windows drive or root.
    """
    return f"./{name}" if re.match(r"@|[A-Za-z]:|\\", name) else name


def _lines(file: Path) -> list[str]:
    try:
        return lines_of(file.read_bytes().decode("utf-8", "replace"))
    except OSError:
        return []


def _zipped(entries: list[tuple[str, str]], folder: Path) -> bytes:
    content = io.BytesIO()
    # The gzip header contains neither a time nor a file name.
    with gzip.GzipFile(filename="", fileobj=content, mode="wb", mtime=0, compresslevel=6) as zipped:
        for piece in tar_of(entries):
            zipped.write(piece)
            if content.tell() > BYTES_MAX:
                raise too_large(folder, entries)
    if content.tell() > BYTES_MAX:
        raise too_large(folder, entries)
    return content.getvalue()


def too_large(folder: Path, entries: list[tuple[str, str]]) -> CodeError:
    """The refusal of a folder whose packed files, the entries, are over the limit."""
    return CodeError(
        f"The context {folder} is over {BYTES_MAX >> 20} MiB packed. "
        f"Its largest files are {_largest(entries)}; "
        f"name what the training does not need in {folder}/.trainyardignore."
    )


def _largest(entries: list[tuple[str, str]]) -> str:
    sized: list[tuple[int, str]] = []
    for name, path in entries:
        try:
            found = os.lstat(path)
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode):
            sized.append((found.st_size, name[2:] if name.startswith("./") else name))
    # The sort is stable, and files of one size keep the order of the archive.
    sized.sort(key=lambda one: -one[0])
    named = [f"{name} ({_size(size)})" for size, name in sized[:LARGEST_NAMED]]
    return " and ".join([", ".join(named[:-1]), named[-1]]) if len(named) > 1 else "".join(named)


def _size(size: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{(size + unit // 2) // unit} {name}"
    return f"{size} B"
