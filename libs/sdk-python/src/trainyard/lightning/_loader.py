"""A data loader that continues in the middle of an epoch.

Lightning stores the state of a loader that has ``state_dict``. Another loader loses its position, and a training
that was stopped within an epoch repeats the epoch's data. The order of this loader is that of
``DistributedSampler``: a function of seed and epoch, with the batches divided among the ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable

from .._context import Context
from ._package import torch

Sampler = torch.utils.data.distributed.DistributedSampler


class _SkippingSampler(Sampler):
    """A sampler that skips the first samples of its next pass."""

    skip = 0

    def __iter__(self) -> Iterator[int]:
        skip, self.skip = self.skip, 0
        # The list contains only indices: nothing is loaded.
        return iter(list(super().__iter__())[skip:])


class ResumableDataLoader(torch.utils.data.DataLoader):
    """A ``torch.utils.data.DataLoader`` over this rank's share of a dataset, with a state. ``batch_size`` is per
    process. The order depends only on the trial's seed (or ``seed``) and the epoch.

    Lightning's checkpoints contain the loader's position. After a restart, the sampler skips the batches that were
    trained on, without loading them. Random numbers that a dataset draws in worker processes start over at a
    restart; with ``num_workers=0`` they continue.
    """

    def __init__(
        self,
        dataset: object,
        ctx: Context,
        *,
        batch_size: int = 1,
        shuffle: bool = False,
        seed: int | None = None,
        drop_last: bool = False,
        **arguments: object,
    ) -> None:
        for taken in ("sampler", "batch_sampler", "generator"):
            if taken in arguments:
                raise TypeError(
                    f"ResumableDataLoader makes its own {taken}: leave {taken} out, or use "
                    "torch.utils.data.DataLoader and checkpoints at the end of epochs"
                )
        self._seed = ctx.info.trial_seed if seed is None else seed
        self._skip = 0
        self._given = 0
        self.before_next_pass: Callable[[], None] | None = None
        """A callback that runs once, before the first batch of the next pass."""
        sampler = _SkippingSampler(
            dataset,
            num_replicas=ctx.distributed.size,
            rank=ctx.distributed.rank,
            shuffle=shuffle,
            seed=self._seed,
            drop_last=drop_last,
        )
        super().__init__(
            dataset,
            batch_size=batch_size,
            sampler=sampler,
            drop_last=drop_last,
            # The loader draws its workers' seed from this generator instead of the training's random numbers.
            generator=torch.Generator(),
            **arguments,
        )

    def __iter__(self) -> Iterator[Any]:
        """Iterates over the sampler's epoch, or after a restart over the rest of it."""
        skip, self._skip = self._skip, 0
        self._given = skip
        self.sampler.skip = skip * (self.batch_size or 1)
        ready, self.before_next_pass = self.before_next_pass, None
        if ready is not None:
            ready()
        self.generator.manual_seed((self._seed << 20) + self.sampler.epoch)
        for batch in super().__iter__():
            self._given += 1
            yield batch

    def state_dict(self) -> dict[str, int]:
        """The epoch, and the number of its batches that were yielded."""
        return {"epoch": self.sampler.epoch, "batches": self._given}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Continues from another loader's position in the same data. A completed epoch is not continued."""
        self.sampler.set_epoch(state["epoch"])
        self._skip = state["batches"] if state["batches"] < len(self) else 0
