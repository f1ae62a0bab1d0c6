"""Callbacks: code of the user that runs at the stages of a training."""

from __future__ import annotations

import difflib
import inspect
import logging
from typing import Any

_log = logging.getLogger("trainyard.pytorch")

# Hooks that Determined has removed, with their replacements.
WITHDRAWN = {
    "on_checkpoint_end": "on_checkpoint_write_end",
    "on_before_optimizer_step": "clip_grads of context.step_optimizer",
    "on_train_step_start": "on_training_start",
    "on_train_step_end": "on_training_workload_end",
}


class PyTorchCallback:
    """Hooks into the training; override those that you need.

    In distributed training every process has its own copy and calls all hooks, except ``on_checkpoint_write_end``
    and ``on_checkpoint_upload_end``, which run on the first process only. A callback whose state changes during
    the training needs ``state_dict`` and ``load_state_dict``, so that a restart restores its state.
    """

    def on_trial_startup(self, first_batch_idx: int, checkpoint_uuid: str | None) -> None:
        """Called before all other hooks, after a checkpoint was loaded. ``first_batch_idx`` is the index of the
        first batch, ``checkpoint_uuid`` the checkpoint that the training continues from, or None.
        """

    def on_trial_shutdown(self) -> None:
        """Called after all other hooks, also when the training ends by an exception."""

    def on_training_start(self) -> None:
        """Called before the first batch of this run, when the data is ready."""

    def on_training_epoch_start(self, epoch_idx: int) -> None:
        """Called before the first batch of an epoch."""

    def on_training_epoch_end(self, epoch_idx: int) -> None:
        """Called after the last batch of an epoch."""

    def on_training_workload_end(
        self, avg_metrics: dict[str, Any], batch_metrics: list[dict[str, Any]] | None
    ) -> None:
        """Called when training metrics are reported, with their averages, and with this process's values for each
        batch since the last report.
        """

    def on_validation_start(self) -> None:
        """Called before a validation."""

    def on_validation_epoch_start(self) -> None:
        """Called before the pass over the validation data, with the models in evaluation mode."""

    def on_validation_step_start(self) -> None:
        """Called before each batch of ``evaluate_batch``."""

    def on_validation_step_end(self, metrics: dict[str, Any]) -> None:
        """Called after each batch of ``evaluate_batch``, with its result."""

    def on_validation_epoch_end(self, outputs: list[Any]) -> None:
        """Called after the pass over the validation data, with the results of ``evaluate_batch`` for this
        process's batches, or with a list of the one result of ``evaluate_full_dataset``.
        """

    def on_validation_end(self, metrics: dict[str, Any]) -> None:
        """Called after a validation, with the reported metrics: the same in every process."""

    def on_checkpoint_load_start(self, checkpoint: dict[str, Any]) -> None:
        """Called before a checkpoint's content is loaded. The hook may change the content in place."""

    def on_checkpoint_save_start(self, checkpoint: dict[str, Any]) -> None:
        """Called before a checkpoint's content is written. The hook may add keys in place, which
        ``on_checkpoint_load_start`` gets back. The tensors in the content are those that the training continues to
        use.
        """

    def on_checkpoint_write_end(self, checkpoint_dir: str) -> None:
        """Called after a checkpoint's files are written. Files that the hook adds to the folder are stored, too.
        If a callback has this hook, the training waits until the files are written.
        """

    def on_checkpoint_upload_end(self, uuid: str) -> None:
        """Called between two batches, after a checkpoint is stored."""

    def state_dict(self) -> dict[str, Any]:
        """Returns the callback's state for the checkpoint; it must be picklable."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores the state that ``state_dict`` returned."""


class Callbacks:
    """All callbacks of a trial. A hook that no callback overrides costs nothing."""

    def __init__(self, by_name: Any) -> None:
        if not isinstance(by_name, dict):
            raise TypeError(
                "build_callbacks() must return a dict from names to callbacks, "
                f"not {type(by_name).__name__}"
            )
        for name, callback in by_name.items():
            if not isinstance(name, str) or not isinstance(callback, PyTorchCallback):
                raise TypeError(
                    f"build_callbacks() returned {callback!r} under the name {name!r}: names are "
                    "strings and callbacks are instances of pytorch.PyTorchCallback"
                )
            _tell_of_hooks_that_are_none(name, callback)
        self._by_name: dict[str, PyTorchCallback] = dict(by_name)
        self._listening: dict[str, list[Any]] = {}

    def call(self, hook: str, *arguments: Any) -> None:
        """Calls a hook of every callback that overrides it."""
        for method in self.listening(hook):
            method(*arguments)

    def listening(self, hook: str) -> list[Any]:
        """The methods of the callbacks that override a hook."""
        callbacks = self._listening.get(hook)
        if callbacks is None:
            plain = getattr(PyTorchCallback, hook)
            callbacks = [
                _with_index(name, hook, getattr(callback, hook))
                for name, callback in self._by_name.items()
                if getattr(getattr(callback, hook), "__func__", None) is not plain
            ]
            self._listening[hook] = callbacks
        return callbacks

    def state_dict(self) -> dict[str, Any]:
        """Returns the state of each callback."""
        return {name: callback.state_dict() for name, callback in self._by_name.items()}

    def load_state_dict(self, states: dict[str, Any]) -> None:
        """Restores each callback's state; a callback without a stored state starts fresh."""
        for name, callback in self._by_name.items():
            if name in states:
                callback.load_state_dict(states[name])


def _with_index(name: str, hook: str, method: Any) -> Any:
    """Returns the hook's method, adapted to Determined's older form of the epoch hooks, without the index."""
    if hook not in ("on_training_epoch_start", "on_training_epoch_end"):
        return method
    try:
        inspect.signature(method).bind(0)
    except TypeError:
        _log.warning("the callback %r has %s without epoch_idx: add this parameter", name, hook)
        return lambda _epoch_idx: method()
    return method


def _tell_of_hooks_that_are_none(name: str, callback: PyTorchCallback) -> None:
    """Warns of methods that look like hooks but are never called."""
    for hook in dir(type(callback)):
        if not hook.startswith("on_") or hasattr(PyTorchCallback, hook):
            continue
        close = difflib.get_close_matches(hook, dir(PyTorchCallback), 1)
        instead = WITHDRAWN.get(hook) or (
            close[0] if close else "a hook of pytorch.PyTorchCallback"
        )
        _log.warning(
            "the callback %r has a method %s, which is never called: use %s", name, hook, instead
        )
