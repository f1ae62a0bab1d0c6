"""Samplers for a loader that a script creates itself."""

from __future__ import annotations

from torch.utils.data import BatchSampler

from .. import samplers


def adapt_batch_sampler(
    batch_sampler: BatchSampler,
    repeat: bool = False,
    skip: int = 0,
    num_replicas: int = 1,
    rank: int = 0,
) -> BatchSampler:
    """Returns a batch sampler that repeats, is divided among ranks and starts after ``skip`` batches of the rank,
    by the classes of ``trainyard.pytorch.samplers``.
    """
    if repeat:
        batch_sampler = samplers.RepeatBatchSampler(batch_sampler)
    if num_replicas > 1:
        batch_sampler = samplers.DistributedBatchSampler(batch_sampler, num_replicas, rank)
    if skip > 0:
        batch_sampler = samplers.SkipBatchSampler(batch_sampler, skip)
    return batch_sampler
