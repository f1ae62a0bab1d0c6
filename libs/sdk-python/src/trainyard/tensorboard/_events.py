"""Writes a file of TensorBoard events with only the standard library.

The format is TFRecord: each record is its length (8 bytes, little-endian), a masked CRC-32C of these bytes, the
data, and a masked CRC-32C of the data. The data is a ``tensorflow.Event`` as protobuf, of which these fields are
written here: wall_time (1, double), step (2, varint), file_version (3), summary (5) with values of tag (1) and
simple_value (2, float), and session_log (7) with status (1). A session log with START at step n makes readers drop
the values of earlier files from step n. Each event is one write to a file opened for appending, so a killed
process leaves complete events.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Mapping
from pathlib import Path

_VERSION = b"brain.Event:2"
_START = 1
_POLYNOMIAL = 0x82F63B78
_MASK_DELTA = 0xA282EAD8


class EventFile:
    """Creates an event file of a run in a folder. Raises OSError if the disk cannot be written."""

    def __init__(self, folder: Path, run: int, purge_step: int | None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        # Readers read the files of a folder in the order of their names.
        name = f"events.out.tfevents.{time.time_ns() // 10**9:010d}.{_host()}.{os.getpid()}.{run}"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._fd = os.open(folder / name, flags, 0o644)
        self._write(_field(3, _VERSION))
        if purge_step is not None:
            self._write(_varint_field(2, purge_step) + _field(7, _varint_field(1, _START)))

    def add(self, step: int, scalars: Mapping[str, float]) -> None:
        """Writes the scalars of a step."""
        values = b"".join(
            _field(1, _field(1, tag.encode("utf-8")) + b"\x15" + struct.pack("<f", _single(value)))
            for tag, value in scalars.items()
        )
        self._write(_varint_field(2, step) + _field(5, values))

    def close(self) -> None:
        """Closes the file."""
        os.close(self._fd)

    def _write(self, fields: bytes) -> None:
        data = b"\x09" + struct.pack("<d", time.time()) + fields
        length = struct.pack("<Q", len(data))
        record = length + _masked_crc(length) + data + _masked_crc(data)
        written = os.write(self._fd, record)
        while written < len(record):
            written += os.write(self._fd, record[written:])


def _host() -> str:
    # A dot would start the next part of the file name, and a slash a folder.
    return socket.gethostname().split(".")[0].replace("/", "-") or "host"


def _single(value: float) -> float:
    """The value as a 4-byte float: an infinity outside of its range."""
    try:
        struct.pack("<f", value)
        return value
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _varint(value: int) -> bytes:
    pieces = bytearray()
    while value > 0x7F:
        pieces.append(value & 0x7F | 0x80)
        value >>= 7
    pieces.append(value)
    return bytes(pieces)


def _varint_field(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _field(number: int, content: bytes) -> bytes:
    """Encodes a field of bytes: text, or a message."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0)
        table.append(crc)
    return table


_TABLE = _crc_table()


def _masked_crc(data: bytes) -> bytes:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    masked = ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF
    return struct.pack("<I", masked)
