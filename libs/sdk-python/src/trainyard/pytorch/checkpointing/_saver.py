"""Stores checkpoints of a training, and restores them.

Training waits only for a copy of its state in memory; the files are written, hashed and recorded in the
background. Every process pickles its state, and the first process writes all files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable

import torch

from ..._checkpoint import CheckpointContext, StoredCheckpoint
from .. import _seeds
from .._callback import Callbacks
from .._context import PyTorchTrialContext, training_of
from .._progress import Counters
from .._trial import PyTorchTrial
from . import _files, _state
from ._copy import copied
from ._identity import identity_of


class Saver:
    """The checkpoints of one training."""

    def __init__(
        self,
        trial: PyTorchTrial,
        context: PyTorchTrialContext,
        storage: CheckpointContext,
        callbacks: Callbacks,
        counters: Counters,
    ) -> None:
        self._trial = trial
        self._context = context
        self._callbacks = callbacks
        self._counters = counters
        self._training = training_of(context)
        self._storage = storage
        self._writing: StoredCheckpoint | None = None
        self._stored: list[str] = []

    def save(self, parts: dict[str, Any]) -> None:
        """Stores the state after the current batch; every process must call this. ``parts`` have a ``state_dict``
        each, and differ between processes.
        """
        context, counters = self._context, self._counters
        counters.stored_at = counters.batches
        between = counters.batches % self._training.aggregation_frequency != 0
        shared = _state.shared_of(context, counters, between)
        self._callbacks.call("on_checkpoint_save_start", shared)
        own: dict[str, Any] = {
            "random": _seeds.capture(),
            "callbacks": self._callbacks.state_dict(),
            "gradients": _state.gradients_of(context) if between else None,
            **{name: part.state_dict() for name, part in parts.items()},
        }
        everyone = context.distributed.gather(_files.packed(own))
        if everyone is not None:
            self._store(shared, everyone)

    def _store(self, shared: dict[str, Any], own: list[bytes]) -> None:
        trial = identity_of(self._trial, self._context)
        metadata = {
            "steps_completed": self._counters.batches,
            "format": "trainyard.pytorch",
            "framework": f"torch-{torch.__version__}",
            "trial": trial["trial"],
        }
        hooks = self._callbacks.listening("on_checkpoint_write_end")

        def write(folder: Path) -> None:
            _files.write(folder, shared, own, trial)

        self._settle()
        if not hooks:
            # Only one copy exists at a time: the previous one is written before the next is made.
            shared = copied(shared)
            self._writing = self._storage.store_in_background(write, metadata)
            return
        # A hook may write the models' tensors, which the training changes: the training waits for the hooks.
        with self._storage.store_path(metadata) as (folder, uuid):
            write(folder)
            for hook in hooks:
                hook(str(folder))
        self._stored.append(uuid)

    def _settle(self) -> None:
        """Waits for the checkpoint that is being written. Raises its error."""
        writing, self._writing = self._writing, None
        if writing is not None:
            writing.wait()
            self._stored.append(writing.uuid)

    def tell(self) -> None:
        """Calls the callbacks for the checkpoints that are stored. Raises the error of a failed one."""
        if self._writing is not None and self._writing.done():
            self._settle()
        stored, self._stored = self._stored, []
        for uuid in stored:
            self._callbacks.call("on_checkpoint_upload_end", uuid)

    def close(self) -> None:
        """Waits for the checkpoint that is being written, and calls the callbacks for it."""
        self._settle()
        self.tell()

    def restore(self, uuid: str, parts: dict[str, Any]) -> Callable[[], None]:
        """Restores a checkpoint; every process must call this. Returns a function that restores the random states,
        to be called just before the first batch.
        """
        context, counters = self._context, self._counters
        with self._storage.restore_path(uuid, compare=True) as folder:
            shared = _files.read_shared(folder, uuid)
            own = _files.read_own(folder, context.distributed.rank, uuid)
        self._callbacks.call("on_checkpoint_load_start", shared)
        _state.load_shared(context, self._counters, shared, uuid)
        gradients = shared["gradients"]
        if own is not None:
            gradients = gradients if own["gradients"] is None else own["gradients"]
            self._callbacks.load_state_dict(own["callbacks"])
            for name, part in parts.items():
                part.load_state_dict(own[name])
        modes: dict[str, Any] = {"evaluating": shared["evaluating"]}

        def begin() -> None:
            _state.restore_modes(context, modes)
            _state.give_gradients(context, gradients)
            if own is not None:
                _seeds.restore(own["random"])
            else:
                _seeds.seed_rank(context, counters.batches)

        return begin


def latest_of(context: PyTorchTrialContext, warm_start: str | None) -> str | None:
    """The checkpoint to continue from: the trial's latest, otherwise the one given to ``Trainer.fit``."""
    return context.info.latest_checkpoint or warm_start or None
