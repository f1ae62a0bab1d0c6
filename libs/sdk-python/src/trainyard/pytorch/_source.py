"""The batches of the training in order, starting at any batch.

A ``pytorch.DataLoader`` can start at any batch. Any other loader is allowed after the trial has called
``context.experimental.disable_dataset_reproducibility_checks()``. Such a loader is iterated over repeatedly and is
not divided between processes. After a restart it is read from the beginning of the interrupted pass, with the
random states of that point.
"""

from __future__ import annotations

import contextlib
import time
import traceback
from collections.abc import Iterator
from typing import Any

from . import _seeds
from ._context import PyTorchTrialContext

# The signal about a killed worker process arrives at most this long after its sockets are closed.
_SIGNAL_S = 1.0
# Python's module by which a process reads the tensors of another one.
_SOCKETS = "multiprocessing.resource_sharer"


@contextlib.contextmanager
def worker_loss_explained() -> Iterator[None]:
    """Replaces the error about a dead worker process by a clear message. torch raises the error from a signal
    handler, at any point of the main thread, and also when the next batch is awaited.
    """
    try:
        yield
    except (RuntimeError, ConnectionError, EOFError) as error:
        death = _loss_of(error)
        if death is None:
            raise
        raise RuntimeError(
            "a process that loads data for build_training_data_loader() or "
            f"build_validation_data_loader() is gone ({death.strip().rstrip('.')}): look whether "
            "the memory was enough, and train with num_workers=0 to see an error of the dataset"
        ) from error


def _loss_of(error: Exception) -> str | None:
    """Returns torch's message about the worker process that caused this error; None for any other error.

    A batch arrives through a socket of the worker process that loaded it. If the socket breaks, the process is
    dead and its signal is about to arrive. Without the wait, torch's signal handler would raise inside the code
    that reports this error. The signal may also be over: torch raises from it at any point, also where Python drops
    exceptions.
    """
    if isinstance(error, RuntimeError):
        return str(error) if str(error).startswith("DataLoader worker") else None
    try:
        time.sleep(_SIGNAL_S)
    except RuntimeError as signalled:
        return _loss_of(signalled)
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    is_of_socket = any(frame.f_globals.get("__name__") == _SOCKETS for frame in frames)
    return "DataLoader worker closed its connection" if is_of_socket else None


class Source:
    """The source of training batches. ``length`` is the number of batches of an epoch. It is None if the loader
    has no length: then the whole training is one epoch.
    """

    length: int | None

    def open(self, batches_done: int) -> None:
        """Starts after the given number of batches."""
        raise NotImplementedError

    def __next__(self) -> Any:
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """Returns the state that this process needs to find its position again."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state that ``state_dict`` returned; called before ``open``."""

    def close(self) -> None:
        """Closes the loader and its processes."""


class Described(Source):
    """A ``pytorch.DataLoader``."""

    def __init__(self, loader: Any, size: int, rank: int, seed: int) -> None:
        self._loader = loader
        self._place: dict[str, Any] = {"num_replicas": size, "rank": rank, "seed": seed}
        self._iterator: Iterator[Any] | None = None
        try:
            self.length = len(loader.get_data_loader(repeat=True, skip=0, **self._place))
        except TypeError:
            self.length = None

    def open(self, batches_done: int) -> None:
        """Creates a loader that starts at that batch; a stream without a length is read up to it."""
        skip = 0 if self.length is None else batches_done
        made = self._loader.get_data_loader(repeat=True, skip=skip, **self._place)
        with _seeds.preserved():
            self._iterator = iter(made)
            for _ in range(batches_done - skip):
                next(self._iterator)

    def __next__(self) -> Any:
        assert self._iterator is not None
        return next(self._iterator)

    def close(self) -> None:
        """Stops the loader's processes."""
        self._iterator = None


class Repeated(Source):
    """The source for any iterable of batches."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._iterator: Iterator[Any] | None = None
        self._in_pass = 0
        self._random: dict[str, Any] = {}
        self._place: dict[str, Any] = {}
        try:
            self.length = len(loader)
        except (TypeError, NotImplementedError):
            self.length = None

    def open(self, batches_done: int) -> None:
        """Reads the interrupted pass again, up to the next batch."""
        if not self._place:
            return
        place, self._place = self._place, {}
        with _seeds.preserved():
            _seeds.restore(place["random"])
            self._begin()
            for _ in range(place["in_pass"]):
                next(self)

    def _begin(self) -> Iterator[Any]:
        self._random = _seeds.capture()
        self._in_pass = 0
        self._iterator = iter(self._loader)
        return self._iterator

    def __next__(self) -> Any:
        batch = next(self._iterator or self._begin(), _END)
        if batch is _END:
            batch = next(self._begin(), _END)
            if batch is _END:
                raise ValueError(
                    "build_training_data_loader() returned a loader that gives no batch the second "
                    "time: return one that can be iterated over again"
                )
        self._in_pass += 1
        return batch

    def state_dict(self) -> dict[str, Any]:
        """Returns the position in the pass, and the random states at its beginning."""
        if self._iterator is None:
            return {}
        return {"in_pass": self._in_pass, "random": self._random}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state that ``state_dict`` returned."""
        self._place = state

    def close(self) -> None:
        """Stops the loader's processes."""
        self._iterator = None


_END = object()


def source_of(loader: object, context: PyTorchTrialContext) -> Source:
    """Creates the source for the result of ``build_training_data_loader``."""
    check_loader(loader, context, "build_training_data_loader")
    if callable(getattr(loader, "get_data_loader", None)):
        distributed = context.distributed
        source: Source = Described(
            loader, distributed.size, distributed.rank, context.get_trial_seed()
        )
    else:
        source = Repeated(loader)
    if source.length == 0:
        raise ValueError(
            "build_training_data_loader() returned a loader without a batch: give it more data, a "
            "smaller batch_size or drop_last=False"
        )
    return source


def validation_of(loader: Any, context: PyTorchTrialContext) -> Any:
    """Returns this process's part of the result of ``build_validation_data_loader``."""
    check_loader(loader, context, "build_validation_data_loader")
    _check_has_batch(loader)
    if not callable(getattr(loader, "get_data_loader", None)):
        return loader
    distributed = context.distributed
    return loader.get_data_loader(
        repeat=False,
        skip=0,
        num_replicas=distributed.size,
        rank=distributed.rank,
        seed=context.get_trial_seed(),
    )


def _check_has_batch(loader: Any) -> None:
    try:
        batches = len(loader)
    except (TypeError, NotImplementedError):
        # A stream has no length to check.
        return
    if batches == 0:
        raise ValueError(
            "build_validation_data_loader() returned a loader without a batch: give it at least one "
            "sample, or drop_last=False"
        )


def check_loader(loader: object, context: PyTorchTrialContext, method: str) -> None:
    """Raises TypeError for a loader whose position cannot be restored, unless the trial has allowed it."""
    if callable(getattr(loader, "get_data_loader", None)):
        return
    if not hasattr(loader, "__iter__"):
        raise TypeError(
            f"{method}() returned {type(loader).__name__}, which gives no batches: "
            "return a pytorch.DataLoader"
        )
    if not context.experimental.reproducibility_checks_disabled:
        raise TypeError(
            f"{method}() returned a {type(loader).__module__}.{type(loader).__name__}: return a "
            "pytorch.DataLoader, which takes the same arguments, or call "
            "context.experimental.disable_dataset_reproducibility_checks() in the trial's __init__"
        )
