"""``DetCallback`` of ``determined.transformers``, for scripts of Determined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .._context import Context
from ._callback import Callback


class DetCallback(Callback):
    """``Callback`` with the arguments of Determined's ``DetCallback``.

    Only the metrics that ``filter_metrics`` names are reported, if it is given, and each checkpoint's metadata has
    ``user_data``. The latest checkpoint of the trial is copied into ``args.output_dir``, and
    ``args.resume_from_checkpoint`` is set to it unless the script has set it: pass that to ``Trainer.train``. New
    code uses ``Callback`` and ``callback.train(trainer)``, which copy nothing.
    """

    def __init__(
        self,
        core_context: Context,
        args: Any,
        filter_metrics: Sequence[str] | None = None,
        user_data: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(core_context)
        self._only = None if filter_metrics is None else frozenset(filter_metrics)
        self._user_data = dict(user_data or {})
        uuid = core_context.info.latest_checkpoint
        if uuid is None or args.resume_from_checkpoint:
            return
        steps = int(core_context.checkpoint.get_metadata(uuid)["steps_completed"])
        folder = Path(args.output_dir, f"checkpoint-{steps}")
        core_context.checkpoint.download(uuid, folder)
        args.resume_from_checkpoint = str(folder)
