"""The program ``trainyard``: the most used commands of ``yard`` on a machine without the checkout, with its words,
its JSON and its exit codes. 0: done. 1: failed, not completed or unreachable. 2: wrong usage or input.
"""

from ._program import main

__all__ = ["main"]
