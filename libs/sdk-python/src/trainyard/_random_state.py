"""The random states of a process: those of Python, NumPy, torch and the accelerators."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

from ._frameworks import require


def read() -> dict[str, Any]:
    """Reads the random states. NumPy's is included only if NumPy is imported."""
    torch = require("torch", "trainyard")
    states: dict[str, Any] = {"python": random.getstate(), "torch": torch.get_rng_state()}
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        states["numpy"] = numpy.random.get_state()
    if torch.cuda.is_available():
        states["cuda"] = torch.cuda.get_rng_state()
    return states


def write(states: dict[str, Any]) -> None:
    """Restores the states that ``read`` returned, except those of accelerators that this host lacks."""
    torch = require("torch", "trainyard")
    random.setstate(states["python"])
    torch.set_rng_state(states["torch"])
    if "numpy" in states:
        import numpy

        numpy.random.set_state(states["numpy"])
    if "cuda" in states and torch.cuda.is_available():
        torch.cuda.set_rng_state(states["cuda"])


def save(folder: Path, rank: int) -> None:
    """Writes this process's states to a checkpoint's folder."""
    require("torch", "trainyard").save(read(), folder / name_of(rank))


def load(folder: Path, rank: int) -> bool:
    """Restores the states of this rank. Returns whether the checkpoint has any."""
    file = folder / name_of(rank)
    if not file.is_file():
        return False
    # The states include tuples and arrays, so they are unpickled: a trial's checkpoint is as trusted as its code.
    write(require("torch", "trainyard").load(file, map_location="cpu", weights_only=False))
    return True


def name_of(rank: int) -> str:
    """The file of a rank's states."""
    return f"random-{rank}.pth"
