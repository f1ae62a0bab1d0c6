"""The values that a trial can query from its context: hyperparameters, configuration, the training's position."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from ._progress import Place

if TYPE_CHECKING:
    from ._training import Core

_log = logging.getLogger("trainyard.pytorch")


class TrialQueries:
    """The part of the context that a trial can query."""

    def __init__(
        self,
        core: Core,
        hparams: dict[str, Any] | None,
        config: dict[str, Any] | None,
        place: Place,
    ) -> None:
        self.info = core.info
        self.distributed = core.distributed
        self._hparams: dict[str, Any] = dict(core.info.hparams if hparams is None else hparams)
        self._config: dict[str, Any] = dict(core.info.config if config is None else config)
        self._place = place
        self._stop_requested = False

    def get_hparams(self) -> dict[str, Any]:
        """The trial's hyperparameters."""
        return self._hparams

    def get_hparam(self, name: str) -> Any:
        """Returns one hyperparameter. Raises ValueError if the trial has none of this name."""
        if name not in self._hparams:
            known = ", ".join(sorted(map(str, self._hparams))) or "none"
            raise ValueError(
                f"get_hparam({name!r}): the trial has no such hyperparameter (there are: {known}): "
                "add it to 'hyperparameters' in the configuration, or to pytorch.init(hparams=…)"
            )
        return self._hparams[name]

    def get_experiment_config(self) -> dict[str, Any]:
        """The experiment's whole configuration; outside of a task, the one given to ``pytorch.init``, or an empty
        one.
        """
        return self._config

    def get_data_config(self) -> dict[str, Any]:
        """The section ``data`` of the configuration, whose content the user defines."""
        section = self._config.get("data")
        return section if isinstance(section, dict) else {}

    def get_experiment_id(self) -> int:
        """The experiment's number; 0 outside a task."""
        return self.info.experiment_id

    def get_trial_id(self) -> str:
        """The ids of experiment and trial, as in ``12.3``."""
        return self.info.trial_id

    def get_trial_seed(self) -> int:
        """The seed of the trial, the same after each restart."""
        return self.info.trial_seed

    def get_global_batch_size(self) -> int:
        """The hyperparameter ``global_batch_size``: the number of samples of a batch in all processes."""
        return int(self.get_hparam("global_batch_size"))

    def get_per_slot_batch_size(self) -> int:
        """``global_batch_size`` divided by the number of processes, rounded down."""
        size, slots = self.get_global_batch_size(), self.distributed.size
        if size < slots:
            raise ValueError(
                f"get_per_slot_batch_size(): global_batch_size is {size} and there are {slots} "
                "slots: make it at least one for each slot"
            )
        return size // slots

    def current_train_epoch(self) -> int:
        """The current epoch, from 0."""
        return self._place.epoch_of(self._place.batch)

    def current_train_batch(self) -> int:
        """The number of the current batch, from 0, since the beginning of the training."""
        return self._place.batch

    def is_epoch_start(self) -> bool:
        """Whether the current batch is an epoch's first."""
        return self._place.starts_epoch(self._place.batch)

    def is_epoch_end(self) -> bool:
        """Whether the current batch is an epoch's last; False if the loader has no length."""
        return self._place.ends_epoch(self._place.batch)

    def get_initial_batch(self) -> int:
        """The first batch of this run: 0, or the batch at which the checkpoint was stored."""
        return self._place.initial

    def get_stop_requested(self) -> bool:
        """Whether the trial has requested its end."""
        return self._stop_requested

    def set_stop_requested(self, stop_requested: bool) -> None:
        """Requests the end of the training: after the current batch the trainer stores a checkpoint and ends as
        finished. With several processes a request of one is enough; all end within about a second, at the same
        batch.
        """
        if not isinstance(stop_requested, bool):
            raise TypeError(f"set_stop_requested() takes a bool, not {stop_requested!r}")
        if stop_requested and not self._stop_requested:
            _log.info("the trial asks to stop after batch %d", self._place.batch)
        self._stop_requested = stop_requested
