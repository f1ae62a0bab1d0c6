"""Writes a tar (POSIX.1-2017, pax) of a folder's files: the same bytes for the same files, at any time and for any
user. The bytes are those that the command line writes with npm's package ``tar`` and its setting ``portable``, so
that code has the same archive however it is submitted.

Times and owners are not kept, modes are reduced by ``_mode``, and hard-linked files are stored once. Entries are
in the order of ``paths``.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterator, Sequence

BLOCK = 512
_PIECE = 1 << 20
_NAME, _PREFIX = 100, 155
# The largest number in twelve bytes of a header.
_OCTAL_MAX = 0o77777777777


def tar_of(entries: Sequence[tuple[str, str]]) -> Iterator[bytes]:
    """Yields the archive in pieces. An entry is a name in the archive, and the path of its file, link or folder.
    Raises OSError for a file that cannot be read or becomes shorter while it is read.
    """
    linked: dict[tuple[int, int], str] = {}
    for name, path in entries:
        status = os.lstat(path)
        if stat.S_ISDIR(status.st_mode):
            yield _header(name.rstrip("/") + "/", _mode(status.st_mode), 0, b"5")
        elif stat.S_ISLNK(status.st_mode):
            target = os.readlink(os.fsencode(path)).decode("utf-8", "replace")
            yield _header(name, _mode(status.st_mode), 0, b"2", target)
        elif stat.S_ISREG(status.st_mode):
            same = (status.st_dev, status.st_ino)
            first = linked.setdefault(same, name) if status.st_nlink > 1 else name
            if first != name:
                yield _header(name, _mode(status.st_mode), 0, b"1", posixpath.normpath(first))
                continue
            yield _header(name, _mode(status.st_mode), status.st_size, b"0")
            yield from _content(path, status.st_size)
    yield bytes(2 * BLOCK)


def _content(path: str, size: int) -> Iterator[bytes]:
    left = size
    with open(path, "rb") as file:
        while left > 0:
            piece = file.read(min(left, _PIECE))
            if not piece:
                raise OSError(f"{path} became shorter while it was read")
            left -= len(piece)
            yield piece
    yield bytes(-size % BLOCK)


def _mode(mode: int) -> int:
    """The mode with read and write access for the owner, without write access for others; readable folders are
    listable.
    """
    kept = ((mode & 0o7777) | 0o600) & ~0o022
    if stat.S_ISDIR(mode):
        kept |= (kept & 0o444) >> 2
    return kept


def header_with_time(name: str, mode: int, size: int, kind: bytes, link: str, mtime: int) -> bytes:
    """The header of one entry with its whole mode and its time in seconds. Bytes of the name and of the link that
    are not UTF-8 are lone surrogates, as in ``os.fsdecode``.
    """
    return _header(name, mode, size, kind, link, min(max(mtime, 0), _OCTAL_MAX))


def _header(
    name: str, mode: int, size: int, kind: bytes, link: str = "", mtime: int | None = None
) -> bytes:
    block, whole = _block(name, mode, size, kind, link, mtime)
    if whole:
        return block
    fields = {"path": name, **({"linkpath": link} if kind in b"12" else {}), "size": str(size)}
    body = b"".join(_field(key, value) for key, value in fields.items())
    short = _cut(f"PaxHeader/{posixpath.basename(name.rstrip('/'))}", _NAME - 1)
    head, _ = _block(short, 0o644, len(body), b"x")
    return head + body + bytes(-len(body) % BLOCK) + block


def _field(key: str, value: str) -> bytes:
    """A pax record: its own length in bytes, and ``key=value``."""
    text = f" {key}={value}\n".encode("utf-8", "surrogateescape")
    digits = len(str(len(text)))
    digits += 1 if len(text) + digits >= 10**digits else 0
    return str(len(text) + digits).encode("ascii") + text


def _block(
    name: str, mode: int, size: int, kind: bytes, link: str = "", mtime: int | None = None
) -> tuple[bytes, bool]:
    """A tar header, and whether all values fit into it as ASCII."""
    base, prefix, fits = _split(name)
    texts = ((base, _NAME), (link, _NAME), (prefix, _PREFIX))
    fits = fits and all(text.isascii() and len(text) <= room for text, room in texts)
    fits = fits and size <= _OCTAL_MAX
    block = bytearray(BLOCK)
    block[0:_NAME] = _fixed(base, _NAME)
    block[100:108] = _octal(mode, 8)
    block[124:136] = _octal(size, 12)
    if mtime is not None:
        block[136:148] = _octal(mtime, 12)
    block[156:157] = kind
    block[157:257] = _fixed(link, _NAME)
    block[257:265] = b"ustar\x0000"
    block[329:345] = _octal(0, 8) * 2
    block[345:500] = _fixed(prefix, _PREFIX)
    block[148:156] = b" " * 8
    block[148:156] = _octal(sum(block), 8)
    return bytes(block), fits


def _split(name: str) -> tuple[str, str, bool]:
    """The name split into base and prefix, and whether both fit into their fields."""
    if _bytes(name) < _NAME:
        return name, "", True
    prefix, base = posixpath.split(name.rstrip("/"))
    prefix = prefix or "."
    while True:
        if _bytes(prefix) <= _PREFIX:
            fits = _bytes(base) <= _NAME
            return (base if fits else _cut(base, _NAME - 1)), prefix, fits
        prefix, last = posixpath.split(prefix)
        base, prefix = f"{last}/{base}", prefix or "."
        if prefix == ".":
            return _cut(name, _NAME - 1), "", False


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _cut(text: str, units: int) -> str:
    """The first ``units`` UTF-16 code units; half a surrogate pair becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass")[: 2 * units].decode("utf-16-le", "replace")


def _fixed(text: str, room: int) -> bytes:
    """The longest prefix of whole UTF-8 characters that fits into ``room`` bytes, padded."""
    content = text.encode("utf-8", "surrogateescape")[:room]
    content = content.decode("utf-8", "ignore").encode("utf-8")
    return content + bytes(room - len(content))


def _octal(number: int, room: int) -> bytes:
    digits = format(number, "o")
    text = digits if len(digits) == room - 1 else digits.rjust(room - 2, "0") + " "
    return text.encode("ascii") + b"\0"
