"""The tests train on one thread of the CPU, so that they prove the same on every machine, unless a test asks for a
GPU.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from unittest import mock

_NAME = "CUDA_VISIBLE_DEVICES"
_GPUS = os.environ.get(_NAME)


def use_one_cpu_thread() -> None:
    """Sets up this process and those that it starts, before the import of torch.

    A process that called ``torch.set_num_threads`` may not fork: two threads of the fork can fail at once with
    "Invalid thread pool".
    """
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ[_NAME] = ""


@contextlib.contextmanager
def gpus_shown() -> Iterator[None]:
    """Shows the machine's GPUs to processes that are started meanwhile. This process itself must not use them, or its
    forks could not.
    """
    with mock.patch.dict(os.environ):
        if _GPUS is None:
            del os.environ[_NAME]
        else:
            os.environ[_NAME] = _GPUS
        yield
