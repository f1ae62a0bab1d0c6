"""``ctx.checkpoint``, and the delivery of its checkpoints to the platform: see _context.py."""

from ._background import StoredCheckpoint
from ._context import CheckpointContext, DownloadMode, background_of, stores_by_host

__all__ = [
    "CheckpointContext",
    "DownloadMode",
    "StoredCheckpoint",
    "background_of",
    "stores_by_host",
]
