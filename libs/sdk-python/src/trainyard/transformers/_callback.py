"""The callback that connects the Hugging Face ``Trainer`` with the platform.

The Trainer decides when to log, to evaluate and to save (``logging_steps``, ``eval_strategy``, ``save_strategy``).
Its logs are reported, and its saved folders become checkpoints of the trial. The callback checks for a stop
request at the end of each step; then the Trainer saves and ends its loop there, with any save strategy.

A resumed Trainer skips the epoch's batches that it has trained on, and restores weights, optimizer, schedule and
random states. On CPU, a run that was killed and resumed thus has bit for bit the weights of an uninterrupted one.
Its logs differ: the losses between its last log and the checkpoint are lost. The first logged loss is therefore
averaged over fewer steps, and ``train_loss`` in the summary only over the last run's steps.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import _log as log
from .._checkpoint import DownloadMode
from .._context import Context
from .._frameworks import check_processes, require, upload_together
from ..errors import CheckpointError, TrainyardError
from ._rates import apply_rates, rates_of
from ._resume import resume_from_checkpoint

transformers = require("transformers", "trainyard.transformers")

_RUNTIME = "_runtime"


class _NothingLeftError(TrainyardError):
    """The checkpoint from which the Trainer resumed has all of its steps. As an error of the platform's, it is no
    sign of a changed file for ``restore_path``.
    """


class Callback(transformers.TrainerCallback):
    """Reports metrics and progress, stores checkpoints and stops the ``Trainer`` on request.

    Training logs are reported as training metrics, evaluations as validation metrics, and an evaluation with
    another prefix (``metric_key_prefix="test"``) in a group of that name. The Trainer's final totals are in the
    group ``summary``. Names are the Trainer's, as in ``eval_loss``, and steps are its optimizer steps.
    """

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        # The user data that DetCallback stores with each checkpoint, and the names of the metrics that it reports;
        # None for all.
        self._user_data: Mapping[str, Any] = {}
        self._only: frozenset[str] | None = None
        self._stored: dict[int, str] = {}
        self._ends_when_complete = False

    def train(self, trainer: Any, **arguments: Any) -> Any:
        """Calls ``trainer.train`` from the trial's latest checkpoint, or from the start.

        Returns the result of ``trainer.train``. Returns None if the checkpoint has all steps of a training that
        ends within an epoch (``max_steps``): there the Trainer would train another step. The checkpoint's weights
        are then in ``trainer.model``.
        """
        self._ends_when_complete = True
        try:
            with resume_from_checkpoint(self._ctx) as path:
                return trainer.train(resume_from_checkpoint=path, **arguments)
        except _NothingLeftError:
            trainer.is_in_train = False
            return None
        finally:
            self._ends_when_complete = False

    def on_train_begin(self, args: Any, state: Any, control: object, **more: Any) -> None:
        """Sets a resumed training's learning rates to the trial's, and restores the best checkpoint so far for
        ``load_best_model_at_end``.
        """
        check_processes(self._ctx, args.world_size, "Trainer")
        latest = self._ctx.info.latest_checkpoint
        if latest is None or state.global_step == 0:
            return
        metadata = self._ctx.checkpoint.get_metadata(latest)
        apply_rates(metadata, args, more["optimizer"], more["lr_scheduler"])
        if args.load_best_model_at_end:
            self._restore_best(args, state, latest, metadata)

    def on_step_begin(self, args: object, state: Any, control: object, **more: object) -> None:
        """Ends a training that has no steps left."""
        if self._ends_when_complete and state.global_step >= state.max_steps:
            raise _NothingLeftError

    def on_step_end(self, args: object, state: Any, control: Any, **more: object) -> None:
        """Checks for a stop request. After the last step nothing is left to stop."""
        if control.should_training_stop or state.global_step >= state.max_steps:
            return
        if self._ctx.preempt.should_preempt():
            control.should_training_stop = True
            control.should_save = True

    def on_epoch_end(self, args: Any, state: Any, control: Any, **more: object) -> None:
        """Saves if another callback, such as ``EarlyStoppingCallback``, ended the training."""
        steps_kept = args.save_strategy in ("steps", "epoch")
        if control.should_training_stop and steps_kept and state.global_step not in self._stored:
            control.should_save = True

    def on_log(
        self,
        args: object,
        state: Any,
        control: object,
        logs: Mapping[str, Any] | None = None,
        **more: object,
    ) -> None:
        """Reports the training's logs. Evaluations are reported by ``on_evaluate``."""
        if not logs:
            return
        if "train_runtime" in logs:
            self._ctx.train.report_metrics("summary", state.global_step, dict(logs))
        elif _prefix_of(logs) is None:
            self._ctx.train.report_training_metrics(state.global_step, self._chosen(logs))
            self._report_progress(state)

    def on_evaluate(
        self,
        args: object,
        state: Any,
        control: object,
        metrics: Mapping[str, Any] | None = None,
        **more: object,
    ) -> None:
        """Reports an evaluation."""
        if not metrics:
            return
        prefix = _prefix_of(metrics) or "eval"
        if prefix == "eval" or prefix.startswith("eval_"):
            self._ctx.train.report_validation_metrics(state.global_step, self._chosen(metrics))
        else:
            self._ctx.train.report_metrics(prefix, state.global_step, dict(metrics))

    def on_save(self, args: Any, state: Any, control: object, **more: object) -> None:
        """Stores the folder that the Trainer has just written as a checkpoint of the trial."""
        folder = _folder_of(args, state.global_step)
        metadata = {
            **self._user_data,
            "steps_completed": state.global_step,
            "epoch": state.epoch,
            **rates_of(args),
        }
        best = state.best_global_step
        if best is not None:
            metadata["best_steps"] = best
            if best in self._stored:
                metadata["best_checkpoint"] = self._stored[best]
        self._stored[state.global_step] = upload_together(self._ctx, folder, metadata)

    def on_train_end(self, args: object, state: object, control: object, **more: object) -> None:
        """Reports the progress at the end of the training."""
        self._report_progress(state)

    def _chosen(self, metrics: Mapping[str, Any]) -> dict[str, Any]:
        only = self._only
        return {name: value for name, value in metrics.items() if only is None or name in only}

    def _report_progress(self, state: Any) -> None:
        if state.max_steps > 0:
            self._ctx.train.report_progress(min(1.0, state.global_step / state.max_steps))

    def _restore_best(
        self, args: Any, state: Any, latest: str, metadata: Mapping[str, Any]
    ) -> None:
        """The Trainer expects its best checkpoint in its output folder, but another host may have saved it."""
        if state.best_global_step is None or state.best_model_checkpoint:
            return
        itself = metadata.get("best_steps") == metadata["steps_completed"]
        best = latest if itself else metadata.get("best_checkpoint")
        if best is None:
            return
        folder = _folder_of(args, state.best_global_step)
        fetched = self._ctx.distributed.local_rank == 0 and self._fetch(best, folder)
        if all(self._ctx.distributed.allgather_local(fetched)[:1]):
            self._stored[state.best_global_step] = best
            state.best_model_checkpoint = str(folder)

    def _fetch(self, uuid: str, folder: Path) -> bool:
        try:
            shutil.rmtree(folder, ignore_errors=True)
            self._ctx.checkpoint.download(uuid, folder, DownloadMode.NoSharedDownload)
        except CheckpointError as error:
            log.warning("the best checkpoint so far cannot be downloaded: %s", error)
            return False
        return True


def _folder_of(args: Any, steps: int) -> Path:
    return Path(args.output_dir, f"checkpoint-{steps}")


def _prefix_of(metrics: Mapping[str, Any]) -> str | None:
    """The prefix of an evaluation's metrics, which always include its duration; None for other metrics."""
    for name in metrics:
        if name.endswith(_RUNTIME):
            return str(name[: -len(_RUNTIME)])
    return None
