"""Messages between the processes of one run: see _context.py."""

from ._context import DistributedContext
from ._ranks import RankGroup, Ranks

__all__ = ["DistributedContext", "RankGroup", "Ranks"]
