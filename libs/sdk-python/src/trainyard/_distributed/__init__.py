"""What the processes of one run tell each other: see _context.py."""

from ._context import DistributedContext

__all__ = ["DistributedContext"]
