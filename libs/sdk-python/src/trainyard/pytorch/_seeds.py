"""The random states of Python, NumPy and PyTorch of this process."""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Iterator
from typing import Any

import torch

from ._context import PyTorchTrialContext


def seed_all(seed: int) -> None:
    """Seeds every random generator. NumPy accepts seeds below 2^32, which trial seeds are."""
    random.seed(seed)
    torch.manual_seed(seed)
    numpy = _numpy()
    if numpy is not None:
        numpy.random.seed(seed % 2**32)


def seed_rank(context: PyTorchTrialContext, batches: int) -> None:
    """Seeds a process's random generators from the trial's seed, the rank and the number of completed batches."""
    seed_all((context.get_trial_seed() + context.distributed.rank + 1_000_003 * batches) % 2**32)


def capture() -> dict[str, Any]:
    """Returns the random states of this process, for ``restore``."""
    state: dict[str, Any] = {"python": random.getstate(), "torch": torch.get_rng_state()}
    numpy = _numpy()
    if numpy is not None:
        state["numpy"] = numpy.random.get_state()
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        state["cuda"] = torch.cuda.get_rng_state()
    return state


def restore(state: dict[str, Any]) -> None:
    """Restores captured random states."""
    random.setstate(state["python"])
    torch.set_rng_state(state["torch"])
    numpy = _numpy()
    if numpy is not None and "numpy" in state:
        numpy.random.set_state(state["numpy"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state(state["cuda"])


@contextlib.contextmanager
def preserved() -> Iterator[None]:
    """Restores the random states after the block."""
    state = capture()
    try:
        yield
    finally:
        restore(state)


def _numpy() -> Any:
    """NumPy, if it is installed. The trial may import it later, so its state is included from the beginning."""
    module = sys.modules.get("numpy")
    if module is None:
        with contextlib.suppress(ImportError):
            import numpy as module
    return module
