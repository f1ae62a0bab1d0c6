"""Names of Determined's SDK that this SDK lacks: using one in a ported script raises an error with its replacement."""

from __future__ import annotations

_COMMANDS = (
    "trainyard.client takes the place of client (client.create_experiment submits), "
    "and trainyard.init(), which works outside of a task too, that of core_v2"
)
_LOOP = "write the loop with trainyard.init() and ctx.train"

PACKAGE = {
    "ExperimentConfig": "a configuration is a plain dict, ctx.info.config",
    "core_v2": "an open run of any process is trainyard.init(), which works outside of a task too",
    "common": "trainyard.client finds and downloads versions of models, and the HTTP API has the rest",
    "estimator": _LOOP,
    "experimental": _COMMANDS,
    "keras": _LOOP,
    "profiler_v2": "ctx.profiler samples the machine",
    "util": "its helpers are a few lines of the standard library each",
}
LAUNCH: dict[str, str] = dict.fromkeys(
    ("horovod", "tensorflow"),
    "trainyard.launch.torch starts the processes of a trial, and torch.distributed connects them",
)
DISTRIBUTED: dict[str, str] = dict.fromkeys(
    ("from_deepspeed", "from_horovod"),
    "start the script with trainyard.launch.torch, and take from_torch_distributed()",
)
CONTEXT = {
    "experimental": "a script reports with ctx.train",
}
TRAIN = {
    "get_experiment_best_validation": (
        "'yard experiment describe -o json' has it, and checkpoint_policy of the PyTorch trainer goes "
        "by the trial's own"
    ),
    "set_metadata": "report texts and numbers with report_metrics('metadata', steps, {…})",
    "get_metadata": "'yard trial metrics' shows what report_metrics('metadata', steps, {…}) stored",
    "is_best": "'yard experiment describe -o json' says which trial is best",
}
CHECKPOINT = {
    "delete": (
        "the platform deletes checkpoints by save_trial_best, save_trial_latest and "
        "save_experiment_best of checkpoint_storage in the configuration"
    ),
}
CLUSTER_INFO = {
    "agent_id": "os.uname().nodename names the host",
    "allocation_id": "ctx.info.trial_id and ctx.info.run name the attempt",
    "cluster_id": "os.environ['TRAINYARD_URL'] names the cluster",
    "container_slot_counts": "ctx.distributed.allgather_local and ctx.distributed.size count processes",
    "gpu_uuids": "slot_ids are the ids of this node's slots, and CUDA_VISIBLE_DEVICES its GPUs",
    "master_cert_file": "the platform is at os.environ['TRAINYARD_URL']",
    "master_cert_name": "the platform is at os.environ['TRAINYARD_URL']",
    "master_url": "the platform is at os.environ['TRAINYARD_URL']",
    "session_token": "the run's own token is os.environ['TRAINYARD_TOKEN']",
    "task_id": "ctx.info.trial_id names the task",
}
TRIAL_INFO = {
    "_config": "the configuration is ctx.info.config of trainyard.init(), and user_data its section data",
    "_steps_completed": "the steps of the latest checkpoint are ctx.info.steps_completed",
    "_trial_run_id": "the attempt is ctx.info.run",
}


def missing_name(owner: str, name: str, instead: dict[str, str]) -> AttributeError:
    """The error for a name that ``owner`` lacks, with its replacement."""
    if name not in instead:
        return AttributeError(f"{owner} has no attribute {name!r}")
    return AttributeError(f"{owner} has no {name}, which Determined has: {instead[name]}")


def missing_import(
    package: str, name: str, instead: dict[str, str]
) -> AttributeError | ImportError:
    """The error for a name that a package lacks. In ``from package import name`` an AttributeError would lose its
    text, so it is an ImportError there.
    """
    error = missing_name(package, name, instead)
    return ImportError(str(error), name=f"{package}.{name}") if name in instead else error


def missing_module_of(package: str, name: str, instead: dict[str, str]) -> ImportError:
    """The error for a module that ``package`` lacks."""
    message = f"{package} has no module {name}, which Determined has: {instead[name]}"
    return ImportError(message, name=f"{package}.{name}")


def missing_module(name: str) -> ImportError:
    """The error for a module that ``trainyard`` lacks."""
    return missing_module_of("trainyard", name, PACKAGE)
