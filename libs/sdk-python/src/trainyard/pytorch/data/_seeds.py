"""Derives seeds from other numbers, and seeds the three random generators of a process."""

from __future__ import annotations

import hashlib
import random
import sys
from typing import Any, NamedTuple

import torch

NUMPY_SEED_BITS = 32


def mix(*parts: int | str) -> int:
    """A seed from 0 to 2**63 - 1 that depends on every part and on their order. It is the same on every machine
    and with every version of Python.
    """
    digest = hashlib.sha256("/".join(str(part) for part in parts).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def set_all(seed: int) -> None:
    """Seeds the global generators of Python, torch on the CPU, and NumPy if it is imported."""
    random.seed(seed)
    torch.default_generator.manual_seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**NUMPY_SEED_BITS)


class Chance:
    """The random states of one user of the three generators. The states start from a seed; each block continues
    where the previous block ended. Outside of the blocks the generators are unaffected.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._states: States | None = None

    def __enter__(self) -> None:
        self._outside = states()
        if self._states is None:
            set_all(self._seed)
        else:
            set_states(self._states)

    def __exit__(self, *_: object) -> None:
        self._states = states()
        set_states(self._outside)


class States(NamedTuple):
    """The states of the global random generators."""

    of_python: Any
    of_torch: torch.Tensor
    of_numpy: Any
    """NumPy's state; None if NumPy is not imported."""


def states() -> States:
    """Returns the current states."""
    numpy = sys.modules.get("numpy")
    of_numpy = numpy.random.get_state() if numpy is not None else None
    return States(random.getstate(), torch.get_rng_state(), of_numpy)


def set_states(before: States) -> None:
    """Restores earlier states."""
    random.setstate(before.of_python)
    torch.set_rng_state(before.of_torch)
    numpy = sys.modules.get("numpy")
    if numpy is not None and before.of_numpy is not None:
        numpy.random.set_state(before.of_numpy)
