"""The platform from a Python process: experiments and the model registry.

from trainyard import client

experiment = client.create_experiment("search.yaml", "code").wait()
experiment.describe(notes="the learning rate was too high", add_labels=["baseline"])
version = client.get_model("iris").get_version("champion")
folder = version.download()

TRAINYARD_URL and TRAINYARD_TOKEN select the cluster; ``Client(url, token)`` uses another. Inside a trial both are
set: with this token the run can register checkpoints of its trial:

client.register_version("iris", checkpoint=uuid, create_model=True)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .._code import Config
from .._files import PathLike
from ._client import Client
from ._errors import (
    ApiError,
    CodeError,
    DownloadError,
    NotFoundError,
    PlatformAwayError,
    RequestProblem,
    UploadError,
)
from ._experiments import DeletionPreview, Experiment, ExperimentAction, KeptCheckpoint
from ._metric_stream import MetricPoint, MetricUpdate, SupersededPoints
from ._models import Model, ModelVersion
from ._spaces import Project, Workspace
from ._watch import Bookmark, Change, Lines, LogLine, Points, Reset, WatchEvent

__all__ = [
    "ApiError",
    "Bookmark",
    "Change",
    "Client",
    "CodeError",
    "DeletionPreview",
    "DownloadError",
    "Experiment",
    "ExperimentAction",
    "KeptCheckpoint",
    "Lines",
    "LogLine",
    "MetricPoint",
    "MetricUpdate",
    "Model",
    "ModelVersion",
    "NotFoundError",
    "PlatformAwayError",
    "Points",
    "Project",
    "RequestProblem",
    "Reset",
    "SupersededPoints",
    "UploadError",
    "WatchEvent",
    "Workspace",
    "create_experiment",
    "create_model",
    "follow_metrics",
    "get_experiment",
    "get_model",
    "list_experiments",
    "list_models",
    "register_folder",
    "register_version",
    "undelete_experiment",
    "validate",
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
) -> Iterator[Experiment]:
    """``Client().list_experiments``: yields experiments, the newest first."""
    return Client().list_experiments(labels, states, archived, filter, order_by, values)


def follow_metrics(task: int | str, after: str = "", group: str = "") -> Iterator[MetricUpdate]:
    """``Client().follow_metrics``: yields the points of an experiment or a trial as they are stored."""
    return Client().follow_metrics(task, after, group)


def get_model(name: str) -> Model:
    """``Client().get_model``: returns the model with this name."""
    return Client().get_model(name)


def list_models(
    name: str = "", labels: Sequence[str] = (), archived: bool = False
) -> Iterator[Model]:
    """``Client().list_models``: yields models, the newest first."""
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
