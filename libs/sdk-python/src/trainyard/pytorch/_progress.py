"""The position and the progress of a training."""

from __future__ import annotations

from typing import Any


class Place:
    """The current batch, as the trial can query it."""

    def __init__(self) -> None:
        self.batch = 0
        """The number of the current batch, from 0, since the beginning of the training."""
        self.validated = 0
        """The number of batches that this run validated."""
        self.initial = 0
        """The first batch of this run."""
        self.epoch_length: int | None = None
        """The number of batches of an epoch; None if the loader has no length."""

    def epoch_of(self, batch: int) -> int:
        """The epoch of a batch; always 0 if the length of an epoch is unknown."""
        return 0 if self.epoch_length is None else batch // self.epoch_length

    def starts_epoch(self, batch: int) -> bool:
        """Whether the batch is an epoch's first."""
        return batch == 0 if self.epoch_length is None else batch % self.epoch_length == 0

    def ends_epoch(self, batch: int) -> bool:
        """Whether the batch is an epoch's last."""
        return self.epoch_length is not None and (batch + 1) % self.epoch_length == 0


class Counters:
    """The progress of a training; stored with each checkpoint."""

    def __init__(self) -> None:
        self.batches = 0
        """The number of batches that this process has trained on."""
        self.validated_at: int | None = None
        """The number of batches at the latest validation."""
        self.stored_at: int | None = None
        """The number of batches at the latest checkpoint."""
        self.reported_at = 0
        """The number of batches at the latest report of training metrics."""
        self.best: float | None = None
        """The best value of the searcher's metric so far."""
        self.seconds = 0.0
        """The seconds of training at the latest checkpoint."""

    def state_dict(self) -> dict[str, Any]:
        """Returns the progress as plain values."""
        return dict(vars(self))

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores the state that ``state_dict`` returned."""
        for name in vars(self):
            if name in state:
                setattr(self, name, state[name])
