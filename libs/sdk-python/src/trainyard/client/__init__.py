"""The platform from a Python process: experiments and the model registry.

from trainyard import client

experiment = client.get_experiment(12)
experiment.describe(notes="the learning rate was too high", add_labels=["baseline"])
version = client.get_model("iris").get_version("champion")
folder = version.download()

The cluster is that of TRAINYARD_URL and TRAINYARD_TOKEN; ``Client(url, token)`` names another. Inside a
trial both are set, to a token with which the run registers checkpoints of its own trial:

client.register_version("iris", checkpoint=uuid, create_model=True)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ._client import Client
from ._errors import ApiError, DownloadError, NotFoundError, PlatformAwayError
from ._experiments import Experiment, ExperimentAction
from ._models import Model, ModelVersion
from ._spaces import Project, Workspace

__all__ = [
    "ApiError",
    "Client",
    "DownloadError",
    "Experiment",
    "ExperimentAction",
    "Model",
    "ModelVersion",
    "NotFoundError",
    "PlatformAwayError",
    "Project",
    "Workspace",
    "create_model",
    "get_experiment",
    "get_model",
    "list_experiments",
    "list_models",
    "register_version",
]


def get_experiment(experiment: int | str) -> Experiment:
    """``Client().get_experiment``: the experiment of this number."""
    return Client().get_experiment(experiment)


def list_experiments(
    labels: Sequence[str] = (), states: Sequence[str] = (), archived: bool = False
) -> Iterator[Experiment]:
    """``Client().list_experiments``: experiments, the newest first."""
    return Client().list_experiments(labels, states, archived)


def get_model(name: str) -> Model:
    """``Client().get_model``: the model of this name."""
    return Client().get_model(name)


def list_models(
    name: str = "", labels: Sequence[str] = (), archived: bool = False
) -> Iterator[Model]:
    """``Client().list_models``: models, the newest first."""
    return Client().list_models(name, labels, archived)


def create_model(
    name: str,
    description: str = "",
    notes: str = "",
    labels: Sequence[str] = (),
    metadata: Mapping[str, Any] | None = None,
) -> Model:
    """``Client().create_model``: a new model without versions."""
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
    """``Client().register_version``: makes a checkpoint a version of a model."""
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
