"""Seeds that are functions of other numbers, and the three generators of a process set to one."""

from __future__ import annotations

import contextlib
import hashlib
import random
import sys
from typing import Iterator, Union

import torch

NUMPY_SEED_BITS = 32


def mix(*parts: Union[int, str]) -> int:
    """A seed from 0 to 2**63 - 1 that depends on every part and on their order, and is the same on
    every machine and with every version of Python.
    """
    digest = hashlib.sha256("/".join(str(part) for part in parts).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def set_all(seed: int) -> None:
    """Seeds the global generators of Python, torch on the CPU, and NumPy where it is in use."""
    random.seed(seed)
    torch.default_generator.manual_seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**NUMPY_SEED_BITS)


@contextlib.contextmanager
def drawn_from(seed: int) -> Iterator[None]:
    """What is drawn from the global generators inside the block depends on the seed alone; outside
    it is as if the block had drawn nothing.
    """
    numpy = sys.modules.get("numpy")
    of_python, of_torch = random.getstate(), torch.get_rng_state()
    of_numpy = numpy.random.get_state() if numpy is not None else None
    set_all(seed)
    try:
        yield
    finally:
        random.setstate(of_python)
        torch.set_rng_state(of_torch)
        if numpy is not None and of_numpy is not None:
            numpy.random.set_state(of_numpy)
