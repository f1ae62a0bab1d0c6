"""Recreates a trial from a checkpoint, for evaluation and inference."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._distributed import DistributedContext
from ..._files import PathLike
from ..._info import Info
from ...tensorboard import TensorBoardContext
from . import _files, _state
from ._identity import class_of

if TYPE_CHECKING:
    from .._context import PyTorchTrialContext


class OutsideRun(NamedTuple):
    """A substitute for the run outside of one."""

    info: Info
    distributed: DistributedContext
    tensorboard: TensorBoardContext


def load_trial_from_checkpoint_path(
    path: PathLike,
    trial_class: Any | None = None,
    trial_kwargs: dict[str, Any] | None = None,
    torch_load_kwargs: dict[str, Any] | None = None,
    **kwargs: object,
) -> Any:
    """Creates the trial of a checkpoint's folder, and loads the weights of its models. Works outside of a task.

    If ``trial_class`` is not given, it is imported by its recorded name. It is called with a context of one
    process with the recorded hyperparameters, and with ``trial_kwargs``. ``torch_load_kwargs`` (such as
    ``map_location``) and all other arguments are passed to ``torch.load``. The checkpoint is unpickled, so it must
    be as trusted as code. Raises ValueError for a folder that the trainer did not store, and for a class that
    builds a different model.
    """
    folder = Path(path)
    identity = _files.read_trial(folder)
    kind = class_of(identity) if trial_class is None else trial_class
    context = _context_of(identity)
    trial = kind(context, **(trial_kwargs or {}))
    state = _files.read_shared(folder, folder.name, **{**(torch_load_kwargs or {}), **kwargs})
    there, here = len(state["models_state_dict"]), len(context.models)
    if there != here:
        raise ValueError(
            f"checkpoint {folder.name} has {there} models and {kind.__name__} wraps {here}: pass the "
            "trial_class that it was stored with"
        )
    for n, model in enumerate(context.models):
        _state.load_model(_state.inner(model), state["models_state_dict"][n], n, folder.name)
        model.eval()
    return trial


def _context_of(identity: dict[str, Any]) -> PyTorchTrialContext:
    """Creates a context outside of any run."""
    from ..._distributed._context import alone
    from ...tensorboard._context import Discarded
    from .._context import PyTorchTrialContext
    from .._init import device_of

    hparams, config = identity.get("hparams") or {}, identity.get("config") or {}
    info = Info(
        experiment_id=0,
        trial_id="local",
        run=1,
        trial_seed=0,
        hparams=hparams,
        config=config,
        search_needs_metric=False,
        latest_checkpoint=None,
        steps_completed=0,
        slots=(),
        rank=0,
        nnodes=1,
        master_addr="127.0.0.1",
        master_port=0,
        run_dir=Path("."),
        local=True,
    )
    distributed = alone()
    core = OutsideRun(info, distributed, Discarded(info))
    return PyTorchTrialContext(core, None, None, device_of(distributed))
