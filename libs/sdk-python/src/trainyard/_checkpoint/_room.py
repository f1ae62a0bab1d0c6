"""Room on this host's disk for checkpoints that are sealed and not yet in their object store."""

from __future__ import annotations

import os
from pathlib import Path


def free_bytes(folder: Path) -> int:
    """The free bytes of a folder's file system."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


class Room:
    """Counts the sealed bytes of one process. ``share`` is that of the free disk which they may take, 0 to 1."""

    def __init__(self, share: float) -> None:
        self.share = share
        self._sealed: dict[str, int] = {}
        # The next checkpoint is as large as the largest so far: before it is written nobody knows better.
        self._largest = 0

    @property
    def sealed(self) -> int:
        """The bytes that are sealed."""
        return sum(self._sealed.values())

    def add(self, uuid: str, count: int) -> None:
        """A checkpoint of so many bytes was sealed."""
        self._sealed[uuid] = count
        self._largest = max(self._largest, count)

    def remove(self, uuid: str) -> None:
        """Its files are gone."""
        self._sealed.pop(uuid, None)

    def is_short(self, folder: Path) -> bool:
        """Whether one more checkpoint would take more than the share of the disk."""
        if not self._sealed:
            return False
        room = self.share * (free_bytes(folder) + self.sealed)
        return self.sealed + self._largest > room
