"""A data loader that continues in the middle of an epoch.

Lightning stores the state of a loader that has ``state_dict``; of others it forgets the position,
and a training that was stopped in an epoch begins its data again. The order here is that of
``DistributedSampler``: a function of seed and epoch, the batches shared out over the ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable

from .._context import Context
from ._package import torch

Sampler = torch.utils.data.distributed.DistributedSampler


class _SkippingSampler(Sampler):
    """Leaves out the first samples of its next pass."""

    skip = 0

    def __iter__(self) -> Iterator[int]:
        skip, self.skip = self.skip, 0
        # In a list: only the indices pass by, nothing is loaded.
        return iter(list(super().__iter__())[skip:])


class ResumableDataLoader(torch.utils.data.DataLoader):
    """A ``torch.utils.data.DataLoader`` over this rank's share of a dataset, with a state.

    ``batch_size`` is per process. The order depends on the trial's seed (or ``seed``) and the epoch
    alone. Its position goes into Lightning's checkpoints; after a restart the batches that were
    trained on are skipped in the sampler, without being loaded. Random numbers that a dataset draws
    in worker processes begin again at a restart; with ``num_workers=0`` they continue.
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
        """Called once, when the next pass is asked for its first batch."""
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
            # The loader draws the seed of its workers from it, and else from the training's own.
            generator=torch.Generator(),
            **arguments,
        )

    def __iter__(self) -> Iterator[Any]:
        """A pass over the sampler's epoch, or what is left of it after a restart."""
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
        """The epoch, and how many of its batches have been given out."""
        return {"epoch": self.sampler.epoch, "batches": self._given}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Continues where another loader of the same data was; a finished epoch is not continued."""
        self.sampler.set_epoch(state["epoch"])
        self._skip = state["batches"] if state["batches"] < len(self) else 0
