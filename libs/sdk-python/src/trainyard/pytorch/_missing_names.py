"""Names of ``determined.pytorch`` that this package lacks, with their replacements."""

from __future__ import annotations

from .._missing_names import missing_module_of

_BATCHES = "current_train_batch() is the current batch"
_TENSORBOARD = "pytorch.init(enable_tensorboard_logging=…) decides"
_LAUNCHER = (
    "python3 -m trainyard.launch.torch starts the processes, and distributed has their number"
)

CONTEXT: dict[str, str] = {
    "_current_batch_idx": _BATCHES,
    "_epoch_len": "is_epoch_start() and is_epoch_end() say where the epoch is",
    "configure_apex_amp": "experimental.use_amp(), or torch.autocast with wrap_scaler()",
    "env": "use get_experiment_config(), get_hparams() and get_trial_seed()",
    "get_enable_tensorboard_logging": _TENSORBOARD,
    "set_enable_tensorboard_logging": _TENSORBOARD,
    "hvd_config": _LAUNCHER,
    "n_gpus": _LAUNCHER,
    "profiler": "set_profiler() traces PyTorch, and profiling.enabled samples the machine",
}
PACKAGE: dict[str, str] = {
    "CheckpointLoadContext": "load_trial_from_checkpoint_path makes the trial again",
    "ClipGradsL2Norm": "context.step_optimizer(clip_grads=…) clips by torch.nn.utils.clip_grad_norm_",
    "ClipGradsL2Value": "context.step_optimizer(clip_grads=…) clips by torch.nn.utils.clip_grad_value_",
    "PyTorchExperimentalContext": "its methods are in context.experimental",
}
MODULES: dict[str, str] = {
    "deepspeed": "write the loop with trainyard.deepspeed",
    "dsat": "search over the settings of DeepSpeed as hyperparameters",
    "experimental": (
        "distribute the data with DataLoader(…).get_data_loader(num_replicas=…, rank=…) in a script with "
        "trainyard.init()"
    ),
    "metric_writers": "ctx.tensorboard.mirror_metrics() copies what is reported to TensorBoard",
    "lightning": "trainyard.lightning has a logger, a callback and an environment for its Trainer",
}


def missing_module(name: str) -> ImportError:
    """The error for a module of ``determined.pytorch`` that this package lacks."""
    return missing_module_of("trainyard.pytorch", name, MODULES)
