"""Reads the archives of a save: only what ``_pack`` writes, and never more of an archive at once than a header.

``tarfile`` reads whatever sizes an archive tells into memory, and keeps all of its entries there.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from typing import BinaryIO

from .._code._tar import BLOCK
from ._limits import HEADER_BYTES_MAX

_FILE_KINDS = (tarfile.REGTYPE, tarfile.AREGTYPE)
_KINDS = (*_FILE_KINDS, tarfile.DIRTYPE, tarfile.SYMTYPE)


def members(archive: BinaryIO) -> Iterator[tarfile.TarInfo]:
    """Yields the entries of an archive: folders, links and files. At each, the archive is at the content, whose size
    is the entry's, of a folder or link 0. Raises ValueError or tarfile.TarError for anything else.
    """
    while True:
        block = archive.read(BLOCK)
        if block in (b"", bytes(BLOCK)):
            return
        member = _header(block)
        if member.type == tarfile.XHDTYPE:
            told = _records(archive, member.size)
            member = _header(archive.read(BLOCK))
            member.name = told.get(b"path", member.name)
            member.linkname = told.get(b"linkpath", member.linkname)
            member.size = int(told.get(b"size", member.size))
        if member.type not in _KINDS:
            raise ValueError(f"{member.name!r} is neither a file, a folder nor a link")
        if member.type not in _FILE_KINDS:
            member.size = 0
        if member.size < 0:
            raise ValueError(f"{member.name!r} has {member.size} bytes")
        start = archive.tell()
        yield member
        archive.seek(start + member.size + -member.size % BLOCK)


def _header(block: bytes) -> tarfile.TarInfo:
    return tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")


def _records(archive: BinaryIO, size: int) -> dict[bytes, str]:
    """The records of a pax header, each as its length and ``key=value``."""
    if size > HEADER_BYTES_MAX:
        raise ValueError(f"a header has {size:,} bytes, and at most {HEADER_BYTES_MAX:,} are read")
    text = archive.read(size + -size % BLOCK)[:size]
    found = {}
    while text:
        count = int(text.partition(b" ")[0])
        if not 0 < count <= len(text):
            raise ValueError("a header has a record of a wrong length")
        key, _, value = text[:count].rstrip(b"\n").partition(b" ")[2].partition(b"=")
        found[key] = value.decode("utf-8", "surrogateescape")
        text = text[count:]
    return found
