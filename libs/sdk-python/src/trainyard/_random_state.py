"""The random states of a process: Python's, NumPy's and torch's, with those of its accelerators."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

from ._frameworks import require


def read() -> dict[str, Any]:
    """The states as they are. NumPy's is there when NumPy has been imported."""
    torch = require("torch", "trainyard")
    states: dict[str, Any] = {"python": random.getstate(), "torch": torch.get_rng_state()}
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        states["numpy"] = numpy.random.get_state()
    if torch.cuda.is_available():
        states["cuda"] = torch.cuda.get_rng_state()
    return states


def write(states: dict[str, Any]) -> None:
    """Takes states of ``read`` up. What this host has no accelerator for is left out."""
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
    """Takes up the states that this rank had; says whether the checkpoint has any of it."""
    file = folder / name_of(rank)
    if not file.is_file():
        return False
    # Tuples and arrays besides tensors: a checkpoint of this trial is trusted as its weights are.
    write(require("torch", "trainyard").load(file, map_location="cpu", weights_only=False))
    return True


def name_of(rank: int) -> str:
    """The file of a rank's states."""
    return f"random-{rank}.pth"
