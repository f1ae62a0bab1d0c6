"""Where a training is."""

from __future__ import annotations

from typing import Any


class Place:
    """The batch at hand, as the trial asks for it."""

    def __init__(self) -> None:
        self.batch = 0
        """Counts from 0, from the beginning of the training."""
        self.validated = 0
        """Batches that were validated in this run."""
        self.initial = 0
        """The batch that this run began at."""
        self.epoch_length: int | None = None
        """The batches of an epoch; None where the loader has no length."""

    def epoch_of(self, batch: int) -> int:
        """The epoch that a batch belongs to; 0 for all where nothing says."""
        return 0 if self.epoch_length is None else batch // self.epoch_length

    def starts_epoch(self, batch: int) -> bool:
        """Whether it is an epoch's first batch."""
        return batch == 0 if self.epoch_length is None else batch % self.epoch_length == 0

    def ends_epoch(self, batch: int) -> bool:
        """Whether it is an epoch's last batch."""
        return self.epoch_length is not None and (batch + 1) % self.epoch_length == 0


class Counters:
    """The progress of a training; stored with each checkpoint."""

    def __init__(self) -> None:
        self.batches = 0
        """Batches that this process has trained on."""
        self.validated_at: int | None = None
        """After how many batches the latest validation was."""
        self.stored_at: int | None = None
        """After how many batches the latest checkpoint was."""
        self.reported_at = 0
        """After how many batches the latest training metrics were reported."""
        self.best: float | None = None
        """The best value of the searcher's metric so far."""
        self.seconds = 0.0
        """The seconds that it had trained at the latest checkpoint."""

    def state_dict(self) -> dict[str, Any]:
        """Returns the progress as plain values."""
        return dict(vars(self))

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Takes back what ``state_dict`` gave."""
        for name in vars(self):
            if name in state:
                setattr(self, name, state[name])
