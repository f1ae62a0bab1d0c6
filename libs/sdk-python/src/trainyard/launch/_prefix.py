"""The prefix that names the process of a line."""

from __future__ import annotations


def prefixed(rank: int, line: bytes) -> bytes:
    """Returns the line with the prefix ``[rank=N]``, and with a newline at its end. Each state of a line that is
    rewritten, as by a progress bar, gets the prefix: the platform stores only the last states.
    """
    prefix = b"[rank=%d] " % rank
    text = line[:-1] if line.endswith(b"\n") else line
    end = b"\r\n" if text.endswith(b"\r") else b"\n"
    states = text.rstrip(b"\r").split(b"\r")
    return b"\r".join(prefix + state for state in states) + end
