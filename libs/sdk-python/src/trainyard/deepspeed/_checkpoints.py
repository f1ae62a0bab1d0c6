"""The state of a DeepSpeed engine as checkpoints of the trial.

An engine's state is spread over the ranks, and each writes its own part: so every rank makes these
calls, at the same points.
"""

from __future__ import annotations

from typing import Any

from .. import _random_state
from .._context import Context
from .._frameworks import store_together
from ..errors import CheckpointError

TAG = "engine"


class Checkpoints:
    """Saves and restores an engine: model, optimizer, scheduler, loss scale and its counts, and
    beside them each rank's random states.

    A checkpoint is restored by as many ranks as have saved it, as DeepSpeed's ZeRO needs it.
    """

    def __init__(self, ctx: Context, engine: Any) -> None:
        self._ctx = ctx
        self._engine = engine
        self._steps = engine.global_steps

    def stepped(self) -> bool:
        """Whether the engine has taken an optimizer step since this was asked last: the moments to
        save and to ask ``ctx.preempt.should_preempt()``. Within an accumulation of gradients it has
        not.
        """
        before, self._steps = self._steps, self._engine.global_steps
        return bool(self._steps != before)

    def save(self, **client_state: Any) -> str:
        """Stores ``engine.save_checkpoint`` and returns the checkpoint's UUID.

        ``client_state`` is what the loop needs to continue; ``restore`` gives it back. The
        checkpoint's steps are the engine's ``global_steps``.
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
        """Loads the trial's latest checkpoint and returns its client state; None when there is
        none.

        Call it before the first step of the engine. Raises CheckpointError where other ranks have
        saved it, or DeepSpeed finds no state.
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
