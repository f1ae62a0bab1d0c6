"""Reports which rank the others are waiting for.

A rank that hangs without dying blocks the others in a collective until its timeout: half an hour with gloo,
forever with ``DistributedContext``. Therefore each rank watches itself. A rank without progress for STALL_S
reports its position to its stderr and to the launcher, and again after twice that time. Ranks in a collective call
do not report to the launcher, because they only wait for the stalled rank. A rank that hangs while it holds
Python's GIL cannot report.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from types import FrameType

import torch

from .. import _end
from .._distributed import Ranks
from .._limits import STALL_LOOK_S, STALL_S
from ._progress import Place

_TORCH = os.path.join(os.path.dirname(torch.__file__), "")
_SDK = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
# Files that are not the user's, and the calls in them that all ranks make together; a backward pass is one.
_OTHERS = (_TORCH, _SDK, os.path.dirname(os.__file__))
_TOGETHER = (
    f"{_TORCH}distributed",
    f"{_TORCH}autograd",
    f"{_TORCH}nn/parallel/distributed",
    f"{_SDK}_distributed",
)


class Watchdog:
    """Watches the thread that created it, from ``start`` to ``stop``. Does nothing in a single process."""

    def __init__(self, place: Place, distributed: Ranks) -> None:
        self._place = place
        self._distributed = distributed
        self._watched = threading.get_ident()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Starts watching."""
        if self._distributed.size > 1:
            name = "trainyard-watchdog"
            self._thread = threading.Thread(target=self._run, name=name, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stops watching."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        seen, since, wait_s = None, 0.0, STALL_S
        while not self._over.wait(STALL_LOOK_S):
            now, at = time.monotonic(), (self._place.batch, self._place.validated)
            if at != seen:
                if wait_s > STALL_S:
                    _end.tell_stall("")
                seen, since, wait_s = at, now, STALL_S
            elif now - since >= wait_s:
                wait_s *= 2
                self._tell(now - since)

    def _tell(self, stalled_s: float) -> None:
        frame = sys._current_frames().get(self._watched)  # noqa: SLF001 — documented by Python
        if frame is None:
            return
        together, where = _is_together(frame), _where(frame)
        activity = "in a call that all ranks make together" if together else "busy"
        text = (
            f"rank {self._distributed.rank} has been at batch {self._place.batch} for {stalled_s:.0f} s: "
            f"it is {activity}, in {where}"
        )
        stack = "".join(traceback.format_stack(frame))
        print(f"trainyard: {text}\n{stack}", file=sys.stderr, end="", flush=True)
        _end.tell_stall("" if together else text)


def _is_together(frame: FrameType) -> bool:
    """Whether the innermost frames, up to the user's first one, contain a call that all ranks make together."""
    at: FrameType | None = frame
    while at is not None and _is_others(at):
        if at.f_code.co_filename.startswith(_TOGETHER):
            return True
        at = at.f_back
    return False


def _where(frame: FrameType) -> str:
    """The position of the innermost frame of the user's code."""
    at: FrameType | None = frame
    while at is not None and _is_others(at):
        at = at.f_back
    at = at or frame
    file = os.path.basename(at.f_code.co_filename)
    return f"{at.f_code.co_name} ({file}, line {at.f_lineno})"


def _is_others(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_OTHERS)
