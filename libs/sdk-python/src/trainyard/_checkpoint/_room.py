"""Tracks the disk space of checkpoints that are sealed and not yet in their object store."""

from __future__ import annotations

import os
from pathlib import Path


def free_bytes(folder: Path) -> int:
    """The free bytes of a folder's file system."""
    filesystem = os.statvfs(folder)
    return filesystem.f_bavail * filesystem.f_frsize


class Room:
    """Counts the sealed bytes of one process. They may use the part ``share``, 0 to 1, of the free disk."""

    def __init__(self, share: float) -> None:
        self.share = share
        self._sealed: dict[str, int] = {}
        # The largest checkpoint so far is the estimate for the size of the next one.
        self._largest = 0

    @property
    def sealed(self) -> int:
        """The number of sealed bytes."""
        return sum(self._sealed.values())

    def add(self, uuid: str, count: int) -> None:
        """Adds a sealed checkpoint of ``count`` bytes."""
        self._sealed[uuid] = count
        self._largest = max(self._largest, count)

    def remove(self, uuid: str) -> None:
        """Subtracts a checkpoint whose files were deleted."""
        self._sealed.pop(uuid, None)

    def is_short(self, folder: Path) -> bool:
        """Whether one more checkpoint would exceed the share of the disk."""
        if not self._sealed:
            return False
        room = self.share * (free_bytes(folder) + self.sealed)
        return self.sealed + self._largest > room
