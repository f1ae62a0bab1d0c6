"""The context of a trial: its models, optimizers and schedulers, and the values that the trial queries."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, NoReturn, TypeVar, cast, overload

import torch

from .._missing_names import missing_name
from . import _missing_names, _models
from ._lr_scheduler import LRScheduler
from ._optimizers import Wrapped, compress_gradients
from ._progress import Place
from ._queries import TrialQueries
from ._training import Core, Training
from .data import to_device
from .metrics import MetricReducer

if TYPE_CHECKING:
    from .metrics._reducers import AReducer, FunctionReducer

AModel = TypeVar("AModel", bound="torch.nn.Module")
AnOptimizer = TypeVar("AnOptimizer", bound="torch.optim.Optimizer")
AScheduler = TypeVar("AScheduler")
AScaler = TypeVar("AScaler", bound="torch.amp.GradScaler")


class PyTorchTrialContext(TrialQueries):
    """The context of a PyTorchTrial; made by ``pytorch.init()``.

    The trial passes its models, then its optimizers, then its schedulers through ``wrap_…`` in its ``__init__``,
    and trains with ``backward`` and ``step_optimizer``. A checkpoint identifies them by their order.
    """

    def __init__(
        self,
        core: Core,
        hparams: dict[str, Any] | None,
        config: dict[str, Any] | None,
        device: torch.device,
        aggregation_frequency: int = 1,
        enable_tensorboard_logging: bool = True,
    ) -> None:
        place = Place()
        super().__init__(core, hparams, config, place)
        self.device = device
        self.models: list[torch.nn.Module] = []
        self.lr_schedulers: list[LRScheduler] = []
        self.scalers: list[torch.amp.GradScaler] = []
        self.experimental = Experimental(self)
        self._training = Training(core, place, aggregation_frequency)
        self._writer: Any = None
        if enable_tensorboard_logging:
            core.tensorboard.mirror_metrics()
        self._warned_types: set[type] = set()

    @property
    def optimizers(self) -> list[torch.optim.Optimizer]:
        """The wrapped optimizers, in the order of wrapping."""
        return [one.optimizer for one in self._training.wrapped]

    def wrap_model(self, model: AModel, *, ddp: dict[str, Any] | None = None) -> AModel:
        """Moves a model to the device and returns the model to use instead. With several processes this is a
        replica whose gradients are averaged over them; ``ddp`` is passed to PyTorch's DistributedDataParallel
        (``{"find_unused_parameters": True}``).

        Raises ValueError when the processes have built different models.
        """
        self._check_early("wrap_model")
        if not isinstance(model, torch.nn.Module):
            raise TypeError(f"wrap_model() takes a torch.nn.Module, not {type(model).__name__}")
        if any(_models.inner(one) is _models.inner(model) for one in self.models):
            raise ValueError(
                "wrap_model() was called twice with the same model: wrap each one once"
            )
        if _models.is_sharded(model):
            raise TypeError(
                "wrap_model() needs an unsharded model, but fully_shard has sharded this one: "
                "train it with the Core API and checkpoint.store_path(shard=True)"
            )
        if _models.is_empty(model):
            raise ValueError(
                "wrap_model() takes a model with weights, and this one has parts on the meta device: "
                "call model.to_empty(device=context.device) and initialise it before"
            )
        model = model.to(self.device)
        if self.distributed.size > 1:
            replica = _models.replicate(model, self.device, self.distributed, dict(ddp or {}))
            # The replica has the attributes of the model, too.
            model = cast(AModel, replica)
        self.models.append(model)
        return model

    def wrap_optimizer(
        self,
        optimizer: AnOptimizer,
        backward_passes_per_step: int = 1,
        fp16_compression: bool | None = None,
        average_aggregated_gradients: bool | None = None,
    ) -> AnOptimizer:
        """Registers an optimizer and returns it.

        ``fp16_compression`` lets the processes exchange the gradients of its parameters as float16. Unless
        ``average_aggregated_gradients`` is False, gradients that are summed over several batches are divided by
        their number. ``backward_passes_per_step``, the number of ``backward`` calls per batch, is optional: any
        number works without it.
        """
        self._check_early("wrap_optimizer")
        if not isinstance(optimizer, torch.optim.Optimizer):
            raise TypeError(
                f"wrap_optimizer() takes a torch.optim.Optimizer, not {type(optimizer).__name__}"
            )
        if isinstance(backward_passes_per_step, bool) or not (
            isinstance(backward_passes_per_step, int) and backward_passes_per_step >= 1
        ):
            raise ValueError(
                "wrap_optimizer(backward_passes_per_step="
                f"{backward_passes_per_step!r}) takes a whole number of at least 1"
            )
        if optimizer in self.optimizers:
            raise ValueError(
                "wrap_optimizer() was called twice with the same optimizer: wrap each one once"
            )
        wrapped = Wrapped(optimizer, average_aggregated_gradients is not False)
        if fp16_compression:
            compress_gradients(self.models, wrapped.parameters())
        self._training.wrapped.append(wrapped)
        return optimizer

    def wrap_lr_scheduler(
        self, lr_scheduler: AScheduler, step_mode: LRScheduler.StepMode, frequency: int = 1
    ) -> AScheduler:
        """Registers a scheduler, which the trainer then steps as ``step_mode`` says, and returns it unchanged."""
        self._check_early("wrap_lr_scheduler")
        if isinstance(lr_scheduler, LRScheduler):
            raise TypeError(
                "wrap_lr_scheduler() takes the scheduler of torch.optim.lr_scheduler itself, "
                "not one that is wrapped already"
            )
        optimizer = getattr(lr_scheduler, "optimizer", None)
        if optimizer is not None and optimizer not in self.optimizers:
            raise ValueError(
                "wrap_lr_scheduler(): the scheduler's optimizer is not wrapped: call "
                "context.wrap_optimizer(optimizer) before"
            )
        self.lr_schedulers.append(LRScheduler(lr_scheduler, step_mode, frequency))
        return lr_scheduler

    def wrap_scaler(self, scaler: AScaler) -> AScaler:
        """Registers a ``torch.amp.GradScaler``, which is then stored with checkpoints, and returns it. Pass it to
        ``step_optimizer(scaler=…)``, and call its ``update`` afterwards. At batches without an optimizer step,
        ``update`` does nothing.
        """
        self._check_early("wrap_scaler")
        if not callable(getattr(scaler, "unscale_", None)):
            raise TypeError(f"wrap_scaler() takes a torch.amp.GradScaler, not {scaler!r}")
        self.scalers.append(scaler)
        plain = scaler.update

        def update(new_scale: Any = None) -> None:
            try:
                plain(new_scale)
            except AssertionError:
                # The scaler has seen no step since its last update, which is correct while gradients are
                # accumulated.
                if self._training.is_step_due:
                    raise

        scaler.update = update
        return scaler

    @overload
    def wrap_reducer(
        self,
        reducer: AReducer,
        name: str | None = None,
        for_training: bool = True,
        for_validation: bool = True,
    ) -> AReducer: ...

    @overload
    def wrap_reducer(
        self,
        reducer: Callable[[list[Any]], Any],
        name: str | None = None,
        for_training: bool = True,
        for_validation: bool = True,
    ) -> FunctionReducer: ...

    def wrap_reducer(
        self,
        reducer: MetricReducer | Callable[[list[Any]], Any],
        name: str | None = None,
        for_training: bool = True,
        for_validation: bool = True,
    ) -> MetricReducer:
        """Registers a ``pytorch.MetricReducer``, or a function of the list of updates. Its result is reported as
        the metric ``name``; without a name, the result must be a dict of metrics.
        """
        return self._training.reducers.wrap_reducer(reducer, name, for_training, for_validation)

    def reset_reducers(self) -> None:
        """Resets every reducer. The trainer does this automatically."""
        self._training.reducers.reset_reducers()

    def autocast(self, **arguments: Any) -> Any:
        """Returns ``torch.autocast`` for the context's device, with bfloat16 on a CPU and float16 elsewhere, or
        with the given ``dtype``.
        """
        return torch.autocast(device_type=self.device.type, **arguments)

    def to_device(self, data: Any) -> Any:
        """Moves data to the context's device, including tensors in dicts and lists. Batches are moved
        automatically.
        """
        return to_device(data, self.device, self._warned_types)

    def backward(
        self,
        loss: torch.Tensor,
        gradient: torch.Tensor | None = None,
        retain_graph: bool = False,
        create_graph: bool = False,
    ) -> None:
        """Adds the gradients of the loss to the existing ones. With several processes, the gradients are averaged
        at the batch in which the optimizers take a step.
        """
        if not isinstance(loss, torch.Tensor):
            raise TypeError(f"backward() takes the loss as a tensor, not {type(loss).__name__}")
        auto = self.experimental.scaler
        if auto is not None:
            loss = auto.scale(loss)
        self._training.passes += 1
        loss.backward(gradient=gradient, retain_graph=retain_graph, create_graph=create_graph)

    def step_optimizer(
        self,
        optimizer: torch.optim.Optimizer,
        clip_grads: Callable[[Iterable[torch.nn.Parameter]], Any] | None = None,
        auto_zero_grads: bool = True,
        scaler: torch.amp.GradScaler | None = None,
    ) -> None:
        """Takes an optimizer step, at every ``aggregation_frequency``-th batch; does nothing at other batches.
        Before the step, ``clip_grads`` is called with the parameters. ``scaler`` is the one that scaled the loss.
        With ``auto_zero_grads=False`` the trial clears the gradients itself.

        Raises ValueError for an unwrapped optimizer, and RuntimeError for a second step in a batch without another
        ``backward``.
        """
        wrapped = self._find(optimizer)
        if wrapped.stepped_at == self._training.passes:
            raise RuntimeError(
                "step_optimizer() was called twice with the same optimizer: call it once for each "
                "batch, or context.backward(loss) between"
            )
        wrapped.stepped_at = self._training.passes
        if not self._training.is_step_due:
            return
        if wrapped.averages and self._training.aggregation_frequency > 1:
            wrapped.average(self._training.aggregation_frequency)
        wrapped.step(clip_grads, scaler if scaler is not None else self.experimental.scaler)
        if auto_zero_grads:
            optimizer.zero_grad()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            raise missing_name("the context", name, _missing_names.CONTEXT)

    def _find(self, optimizer: Any) -> Wrapped:
        for one in self._training.wrapped:
            if one.optimizer is optimizer:
                return one
        raise ValueError(
            f"step_optimizer() was called with {type(optimizer).__name__}, which is not wrapped: "
            "call context.wrap_optimizer(optimizer) in the trial's __init__ and use what it returns"
        )

    def set_profiler(self, **arguments: Any) -> None:
        """Profiles the training with ``torch.profiler.profile``, which gets these arguments; a step of its
        ``schedule`` is a batch. The traces, ``rank-<n>.<time>.pt.trace.json.gz``, are stored with the TensorBoard
        files. Without a ``schedule`` the third to the fifth batch of the run are traced.
        """
        self._check_early("set_profiler")
        self._training.profiling.trace(arguments)

    set_torch_profiler = set_profiler

    def get_tensorboard_path(self) -> Path:
        """A folder for TensorBoard files and other files to keep. It is stored next to the checkpoints, and all
        runs of the trial use it. Each process has a separate folder.
        """
        return self._training.core.tensorboard.path

    def get_tensorboard_writer(self) -> Any:
        """The ``torch.utils.tensorboard.SummaryWriter`` of this process, which writes into the TensorBoard folder.
        Raises ImportError if the package tensorboard is missing.
        """
        if self._writer is None:
            self._writer = self._training.core.tensorboard.writer()
            # Determined's own writer class had this attribute.
            self._writer.writer = self._writer
        return self._writer

    def _check_early(self, method: str) -> None:
        if self._training.began:
            raise RuntimeError(
                f"context.{method}() was called after the training had begun: "
                "call it in the trial's __init__"
            )


def training_of(context: PyTorchTrialContext) -> Training:
    """The part of a context that only the trainer uses."""
    return context._training  # noqa: SLF001 — the only way to it


class Experimental:
    """Rarely used settings."""

    def __init__(self, context: PyTorchTrialContext) -> None:
        self._context = context
        self.amp = False
        self.scaler: torch.amp.GradScaler | None = None
        self.reproducibility_checks_disabled = False
        self.moves_batches = True

    def use_amp(self) -> None:
        """Trains in mixed precision: batches run under autocast, and on a GPU ``backward`` and ``step_optimizer``
        scale the loss and the gradients automatically.
        """
        self.amp = True
        if self.scaler is None and self._context.device.type == "cuda":
            self.scaler = self._context.wrap_scaler(torch.amp.GradScaler("cuda"))

    def wrap_reducer(self, *args: Any, **kwargs: Any) -> Any:
        """The context's ``wrap_reducer``, under its former name."""
        return self._context.wrap_reducer(*args, **kwargs)

    def disable_dataset_reproducibility_checks(self) -> None:
        """Allows loaders other than ``pytorch.DataLoader``. Their data is not divided between processes."""
        self.reproducibility_checks_disabled = True

    def disable_auto_to_device(self) -> None:
        """Does not move batches to the device; the trial calls ``context.to_device``."""
        self.moves_batches = False
