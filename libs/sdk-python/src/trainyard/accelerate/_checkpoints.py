"""The state of an ``Accelerator`` as checkpoints of the trial, and a loop that continues within an
epoch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import _random_state
from .._context import Context
from .._frameworks import check_processes, require, store_together

torch = require("torch", "trainyard.accelerate")
data_loader = require("accelerate.data_loader", "trainyard.accelerate", "accelerate")


class Checkpoints:
    """Saves and restores the state of everything that the accelerator prepared or registered.

    Every rank must make each call at the same point. On CPU, a loop that reads its data through ``batches`` has,
    after a kill and a resume, bit for bit the weights of an uninterrupted one, if loading a sample draws no random
    numbers.
    """

    def __init__(self, ctx: Context, accelerator: Any) -> None:
        check_processes(ctx, accelerator.num_processes, "Accelerator")
        if accelerator.project_configuration.automatic_checkpoint_naming:
            raise ValueError(
                "Checkpoints names its folders itself: make the Accelerator without "
                "automatic_checkpoint_naming"
            )
        self._ctx = ctx
        self._accelerator = accelerator
        self._random: dict[str, Any] | None = None

    def save(self, steps_completed: int, **metadata: Any) -> str:
        """Stores ``accelerator.save_state`` and returns the checkpoint's UUID.

        ``metadata`` has the values that the loop needs to continue, such as the epoch and its completed batches.
        """
        stored = {**metadata, "steps_completed": steps_completed}
        with store_together(self._ctx, stored) as (folder, uuid):
            self._accelerator.save_state(str(folder))
        return uuid

    def restore(self) -> dict[str, Any] | None:
        """Loads the trial's latest checkpoint and returns its metadata; None without a checkpoint. Call it after
        ``accelerator.prepare``.
        """
        latest = self._ctx.info.latest_checkpoint
        if latest is None:
            return None
        with self._ctx.checkpoint.restore_path(latest) as folder:
            self._accelerator.load_state(str(folder))
        self._random = _random_state.read()
        return self._ctx.checkpoint.get_metadata(latest)

    def batches(self, loader: Any, epoch: int, skip: int = 0) -> Iterator[Any]:
        """Yields the batches of an epoch of a prepared loader, without the first ``skip``. The sampler skips these
        without loading them. Raises ValueError if a shuffled loader cannot repeat the order of an epoch.
        """
        sampler = _sampler_of(loader)
        shuffles = isinstance(sampler, torch.utils.data.RandomSampler)
        if shuffles and not isinstance(sampler, data_loader.SeedableRandomSampler):
            raise ValueError(
                "Checkpoints.batches needs an order that can be repeated: make the Accelerator "
                "with DataLoaderConfiguration(use_seedable_sampler=True)"
            )
        loader.set_epoch(epoch)
        remaining = self._accelerator.skip_first_batches(loader, skip) if skip else loader
        # Starting an epoch draws random numbers, which the skipped batches had drawn before the restore.
        restored, self._random = (self._random if skip else None), None
        for batch in remaining:
            if restored is not None:
                _random_state.write(restored)
                restored = None
            yield batch
        if restored is not None:
            _random_state.write(restored)


def _sampler_of(loader: object) -> Any:
    """The original sampler inside the batch samplers that ``prepare`` adds."""
    batches = inner = getattr(loader, "batch_sampler", None)
    while inner is not None:
        batches, inner = inner, getattr(inner, "batch_sampler", None)
    return getattr(batches, "sampler", None)
