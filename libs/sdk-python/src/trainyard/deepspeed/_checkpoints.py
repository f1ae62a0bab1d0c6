"""The state of a DeepSpeed engine as checkpoints of the trial.

An engine's state is spread over the ranks, and each writes its part. Therefore every rank must make these calls,
at the same points.
"""

from __future__ import annotations

from typing import Any

from .. import _random_state
from .._context import Context
from .._frameworks import store_together
from ..errors import CheckpointError

TAG = "engine"


class Checkpoints:
    """Saves and restores an engine (model, optimizer, scheduler, loss scale and counters) and each rank's random
    states. A checkpoint can be restored only with the number of ranks that saved it, because DeepSpeed's ZeRO
    requires this.
    """

    def __init__(self, ctx: Context, engine: Any) -> None:
        self._ctx = ctx
        self._engine = engine
        self._steps = engine.global_steps

    def stepped(self) -> bool:
        """Whether the engine has taken an optimizer step since the last call. Only then can the loop save, or ask
        ``ctx.preempt.should_preempt()``: during gradient accumulation it returns False.
        """
        before, self._steps = self._steps, self._engine.global_steps
        return bool(self._steps != before)

    def save(self, **client_state: Any) -> str:
        """Stores ``engine.save_checkpoint`` and returns the checkpoint's UUID.

        ``client_state`` has the values that the loop needs to continue; ``restore`` returns them. The checkpoint's
        steps are the engine's ``global_steps``.
        """
        steps, ranks = self._engine.global_steps, self._ctx.distributed.size
        metadata = {"steps_completed": steps, "ranks": ranks}
        with store_together(self._ctx, metadata) as (folder, uuid):
            self._engine.save_checkpoint(
                str(folder), tag=TAG, client_state=client_state, save_latest=False
            )
            _random_state.save(folder, self._ctx.distributed.rank)
        return uuid

    def restore(self) -> dict[str, Any] | None:
        """Loads the trial's latest checkpoint and returns its client state; None without a checkpoint. Call it
        before the engine's first step. Raises CheckpointError if a different number of ranks saved it, or if
        DeepSpeed finds no state in it.
        """
        latest = self._ctx.info.latest_checkpoint
        if latest is None:
            return None
        ranks = self._ctx.checkpoint.get_metadata(latest).get("ranks", self._ctx.distributed.size)
        if ranks != self._ctx.distributed.size:
            raise CheckpointError(
                f"checkpoint {latest} was saved by {ranks} ranks and can be restored only by as many: "
                f"set slots_per_trial to {ranks}"
            )
        with self._ctx.checkpoint.restore_path(latest) as folder:
            path, client_state = self._engine.load_checkpoint(str(folder), tag=TAG)
            if path is None:
                raise CheckpointError(
                    f"checkpoint {latest} has no state of a DeepSpeed engine: start from one that "
                    "Checkpoints.save has stored"
                )
            _random_state.load(folder, self._ctx.distributed.rank)
        self._steps = self._engine.global_steps
        return dict(client_state or {})
