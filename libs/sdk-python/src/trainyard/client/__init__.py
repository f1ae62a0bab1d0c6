"""The platform from a Python process: experiments, the model registry and events.

from trainyard import client

experiment = client.create_experiment("search.yaml", "code").wait()
experiment.describe(notes="the learning rate was too high", add_labels=["baseline"])
version = client.get_model("iris").get_version("champion")
folder = version.download()

trial = experiment.list_trials(order_by="best_value")[0]
trial.metrics_frame("validation").plot("steps_completed", "loss")
experiment.top_checkpoint().download()

The functions of the module use the cluster of ``login``, the embedded one, or TRAINYARD_URL and TRAINYARD_TOKEN;
``Client(url, token)`` uses another. Inside a trial both variables are set: with this token the run can register
checkpoints of its trial:

client.register_version("iris", checkpoint=uuid, create_model=True)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._code import Config
from .._files import PathLike
from ._checkpoints import Checkpoint
from ._client import Client
from ._cluster import Agent, Job, JobExplanation, Pool, Storage, Token, WaitingRun
from ._comparison import Comparison, SharedMetric
from ._errors import (
    ApiError,
    CodeError,
    DownloadError,
    NotFoundError,
    PlatformAwayError,
    RequestProblem,
    UploadError,
)
from ._events import Event
from ._experiments import DeletionPreview, Experiment, ExperimentAction, KeptCheckpoint
from ._login import login, logout
from ._metric_stream import MetricPoint, MetricUpdate, SupersededPoints
from ._models import Model, ModelVersion
from ._shown import Listing
from ._spaces import Project, Workspace
from ._subscriptions import Delivery, DeliveryAttempt, NatsAccess, Subscription
from ._tasks import Task
from ._trials import Trial
from ._watch import Bookmark, Change, Lines, LogLine, Points, Reset, WatchEvent

if TYPE_CHECKING:
    from ._people import Me

__all__ = [
    "Agent",
    "ApiError",
    "Bookmark",
    "Change",
    "Checkpoint",
    "Client",
    "CodeError",
    "Comparison",
    "DeletionPreview",
    "Delivery",
    "DeliveryAttempt",
    "DownloadError",
    "Event",
    "Experiment",
    "ExperimentAction",
    "Job",
    "JobExplanation",
    "KeptCheckpoint",
    "Lines",
    "Listing",
    "LogLine",
    "MetricPoint",
    "MetricUpdate",
    "Model",
    "ModelVersion",
    "NatsAccess",
    "NotFoundError",
    "PlatformAwayError",
    "Points",
    "Pool",
    "Project",
    "RequestProblem",
    "Reset",
    "SharedMetric",
    "Storage",
    "Subscription",
    "SupersededPoints",
    "Task",
    "Token",
    "Trial",
    "UploadError",
    "WaitingRun",
    "WatchEvent",
    "Workspace",
    "compare",
    "create_command",
    "create_experiment",
    "create_model",
    "create_notebook",
    "create_shell",
    "create_subscription",
    "create_tensorboard",
    "events",
    "follow_metrics",
    "get_checkpoint",
    "get_experiment",
    "get_model",
    "get_subscription",
    "get_task",
    "get_trial",
    "list_agents",
    "list_experiments",
    "list_jobs",
    "list_models",
    "list_pools",
    "list_storages",
    "list_subscriptions",
    "list_tasks",
    "list_tokens",
    "login",
    "logout",
    "register_folder",
    "register_version",
    "undelete_experiment",
    "validate",
    "whoami",
]


def create_experiment(
    config: Config,
    model_dir: PathLike | None = None,
    includes: Iterable[PathLike] | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    labels: Sequence[str] | None = None,
    workspace: str = "",
    project: str = "",
    paused: bool = False,
    key: str = "",
) -> Experiment:
    """``Client().create_experiment``: submits a configuration and a folder of training code."""
    return Client().create_experiment(
        config,
        model_dir,
        includes,
        overrides=overrides,
        labels=labels,
        workspace=workspace,
        project=project,
        paused=paused,
        key=key,
    )


def validate(config: Config, overrides: Mapping[str, Any] | None = None) -> list[str]:
    """``Client().validate``: checks a configuration and returns its warnings."""
    return Client().validate(config, overrides)


def get_experiment(experiment: int | str) -> Experiment:
    """``Client().get_experiment``: returns the experiment with this number."""
    return Client().get_experiment(experiment)


def undelete_experiment(experiment: int | str) -> Experiment:
    """``Client().undelete_experiment``: restores a deleted experiment, within the grace period of its deletion."""
    return Client().undelete_experiment(experiment)


def list_experiments(
    labels: Sequence[str] = (),
    states: Sequence[str] = (),
    archived: bool = False,
    filter: str = "",
    order_by: str = "",
    values: Sequence[str] = (),
) -> Listing[Experiment]:
    """``Client().list_experiments``: returns experiments, the newest first."""
    return Client().list_experiments(labels, states, archived, filter, order_by, values)


def get_trial(trial: str) -> Trial:
    """``Client().get_trial``: returns the trial with this id, such as ``"12.3"``."""
    return Client().get_trial(trial)


def compare(sources: Sequence[str]) -> Comparison:
    """``Client().compare``: returns trials of any experiments, with the metrics that they share."""
    return Client().compare(sources)


def create_command(
    command: str | Sequence[str] = "",
    config: Config | None = None,
    context: PathLike | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    workspace: str = "",
    key: str = "",
) -> Task:
    """``Client().create_command``: runs a command on the cluster."""
    return Client().create_command(
        command, config, context, overrides=overrides, workspace=workspace, key=key
    )


def create_shell(
    config: Config | None = None,
    context: PathLike | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    workspace: str = "",
    key: str = "",
) -> Task:
    """``Client().create_shell``: starts a shell on the cluster."""
    return Client().create_shell(config, context, overrides=overrides, workspace=workspace, key=key)


def create_notebook(
    config: Config | None = None,
    context: PathLike | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    workspace: str = "",
    key: str = "",
) -> Task:
    """``Client().create_notebook``: starts a JupyterLab on the cluster."""
    return Client().create_notebook(
        config, context, overrides=overrides, workspace=workspace, key=key
    )


def create_tensorboard(
    sources: Sequence[int | str],
    config: Config | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    workspace: str = "",
    key: str = "",
) -> Task:
    """``Client().create_tensorboard``: starts a TensorBoard of experiments and trials."""
    return Client().create_tensorboard(
        sources, config, overrides=overrides, workspace=workspace, key=key
    )


def get_task(task: str) -> Task:
    """``Client().get_task``: returns the task with this id, such as ``"t12"``."""
    return Client().get_task(task)


def list_tasks(filter: str = "", order_by: str = "") -> Listing[Task]:
    """``Client().list_tasks``: returns commands, shells, notebooks and TensorBoards, the newest first."""
    return Client().list_tasks(filter, order_by)


def get_checkpoint(uuid: str) -> Checkpoint:
    """``Client().get_checkpoint``: returns the checkpoint with this UUID, or with its first eight digits."""
    return Client().get_checkpoint(uuid)


def list_jobs(pool: str = "", filter: str = "", order_by: str = "") -> Listing[Job]:
    """``Client().list_jobs``: returns the experiments in the queues of the pools."""
    return Client().list_jobs(pool, filter, order_by)


def list_agents(filter: str = "", order_by: str = "") -> Listing[Agent]:
    """``Client().list_agents``: returns the agents."""
    return Client().list_agents(filter, order_by)


def list_pools() -> Listing[Pool]:
    """``Client().list_pools``: returns the pools."""
    return Client().list_pools()


def list_storages() -> Listing[Storage]:
    """``Client().list_storages``: returns the storages of checkpoints."""
    return Client().list_storages()


def whoami() -> Me:
    """``Client().whoami``: returns the user of the token, with roles and permissions."""
    return Client().whoami()


def list_tokens() -> Listing[Token]:
    """``Client().list_tokens``: returns the tokens of the API, without their secrets."""
    return Client().list_tokens()


def follow_metrics(task: int | str, after: str = "", group: str = "") -> Iterator[MetricUpdate]:
    """``Client().follow_metrics``: yields the points of an experiment or a trial as they are stored."""
    return Client().follow_metrics(task, after, group)


def events(types: str | Sequence[str] = (), **options: Any) -> Iterator[Event]:
    """``Client().events``: yields the events that match a filter, those of the past and then new ones."""
    return Client().events(types, **options)


def create_subscription(name: str, delivery: str = "pull", **options: Any) -> Subscription:
    """``Client().create_subscription``: creates a named reader of the events, or a webhook."""
    return Client().create_subscription(name, delivery, **options)


def get_subscription(name: str) -> Subscription:
    """``Client().get_subscription``: returns the subscription with this name."""
    return Client().get_subscription(name)


def list_subscriptions(delivery: str = "") -> Listing[Subscription]:
    """``Client().list_subscriptions``: returns all subscriptions, or those of one delivery."""
    return Client().list_subscriptions(delivery)


def get_model(name: str) -> Model:
    """``Client().get_model``: returns the model with this name."""
    return Client().get_model(name)


def list_models(
    name: str = "", labels: Sequence[str] = (), archived: bool = False
) -> Listing[Model]:
    """``Client().list_models``: returns models, the newest first."""
    return Client().list_models(name, labels, archived)


def create_model(
    name: str,
    description: str = "",
    notes: str = "",
    labels: Sequence[str] = (),
    metadata: Mapping[str, Any] | None = None,
) -> Model:
    """``Client().create_model``: creates a model without versions."""
    return Client().create_model(name, description, notes, labels, metadata)


def register_version(
    model: str,
    checkpoint: str,
    semantic_version: str = "",
    description: str = "",
    notes: str = "",
    labels: Sequence[str] = (),
    metadata: Mapping[str, Any] | None = None,
    create_model: bool = False,
    wait_s: float = 60.0,
) -> ModelVersion:
    """``Client().register_version``: registers a checkpoint as a version of a model."""
    return Client().register_version(
        model,
        checkpoint,
        semantic_version,
        description,
        notes,
        labels,
        metadata,
        create_model,
        wait_s,
    )


def register_folder(
    model: str,
    folder: PathLike,
    semantic_version: str = "",
    description: str = "",
    notes: str = "",
    labels: Sequence[str] = (),
    metadata: Mapping[str, Any] | None = None,
    create_model: bool = False,
) -> ModelVersion:
    """``Client().register_folder``: uploads a local folder and registers it as a version of a model."""
    return Client().register_folder(
        model, folder, semantic_version, description, notes, labels, metadata, create_model
    )
