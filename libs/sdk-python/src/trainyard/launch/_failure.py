"""Determines how a rank ended, from its stderr or from the file that the SDK writes for the launcher."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any, NamedTuple

from .._end import says_lost_peer
from .._limits import MESSAGE_CHARACTERS_MAX

_HEAD = "Traceback (most recent call last):"
# The prefix that torch adds to each line of a traceback after its process group was created.
_TORCHS_PREFIX = re.compile(r"\[rank\d+\]: ?")
_FRAME = re.compile(r'\s*File "(.+)", line (\d+)')


class Failure(NamedTuple):
    """A rank that failed."""

    rank: int
    """The rank; -1 for a whole node."""
    node: int
    code: int
    """The exit code; the negated number of the signal for a killed process."""
    summary: str
    """One line: the exception and where it was raised, or the cause of the process's end."""
    traceback: str
    follows: bool
    """Whether the failure only reports that another process has ended."""

    def exit_code(self) -> int:
        """The exit code in a shell's numbering."""
        return self.code if self.code > 0 else 128 - self.code

    def headline(self) -> str:
        """The summary, preceded by the rank if known."""
        return self.summary if self.rank < 0 else f"rank {self.rank}: {self.summary}"

    def message(self, before: str = "") -> str:
        """Returns the message of the run's end record: the summary, then the traceback, whose end
        matters most.
        """
        head = f"{before}{self.headline()}"[:MESSAGE_CHARACTERS_MAX]
        room = MESSAGE_CHARACTERS_MAX - len(head) - 2
        if not self.traceback or room < 200:
            return head
        lines = self.traceback.splitlines()
        while len("\n".join(lines)) > room - 4 and len(lines) > 2:
            del lines[1]
        if len(lines) < len(self.traceback.splitlines()):
            lines.insert(1, "  …")
        return f"{head}\n\n{chr(10).join(lines)}"[:MESSAGE_CHARACTERS_MAX]


def failure_of(
    rank: int, node: int, code: int, stderr: list[str], error_file: Path | None
) -> Failure:
    """Returns the failure of a rank that ended with ``code``, or that is about to end and has reported its error."""
    record = _said(error_file)
    if record is not None:
        text = (str(record["message"]), str(record["traceback"]), record["follows"] is True)
        return Failure(rank, node, code, *text)
    if code < 0:
        perhaps = ", often because the host ran out of memory" if -code == signal.SIGKILL else ""
        summary = f"was ended by {_name_of(-code)}{perhaps}"
        # NCCL's watchdog aborts the process when a peer has ended.
        follows = -code == signal.SIGABRT and any("NCCL" in line for line in stderr)
        return Failure(rank, node, code, summary, "", follows)
    stderr = [_TORCHS_PREFIX.sub("", line, count=1) for line in stderr]
    traceback = _traceback(stderr)
    if not traceback:
        last = next((line for line in reversed(stderr) if line.strip()), "")
        summary = f"exited with code {code}" + (f": {last.strip()[:500]}" if last else "")
        return Failure(rank, node, code, summary, "", False)
    summary = traceback[-1]
    frames = [match for match in map(_FRAME.match, traceback) if match]
    if frames:
        summary += f" ({Path(frames[-1][1]).name}, line {frames[-1][2]})"
    return Failure(rank, node, code, summary, "\n".join(traceback), says_lost_peer(traceback[-1]))


def has_said(error_file: Path) -> bool:
    """Whether a rank has written its error already."""
    return _said(error_file) is not None


def _said(error_file: Path | None) -> dict[str, Any] | None:
    if error_file is None:
        return None
    try:
        record: dict[str, Any] = json.loads(error_file.read_bytes())
        return record if {"message", "traceback", "follows"} <= record.keys() else None
    except (OSError, ValueError, AttributeError):
        return None


def _traceback(lines: list[str]) -> list[str]:
    """Returns the last traceback with its exception's line; empty if there is none."""
    starts = [n for n, line in enumerate(lines) if line.startswith(_HEAD)]
    if not starts:
        return []
    for end in range(starts[-1] + 1, len(lines)):
        if not lines[end].startswith(" "):
            return lines[starts[-1] : end + 1]
    return []


def _name_of(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
