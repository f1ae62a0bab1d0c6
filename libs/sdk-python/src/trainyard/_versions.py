"""The versions with which a checkpoint was written: of Python, of this package and of the loaded frameworks."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from ._version import __version__

# The key of the versions in the platform's copy of a checkpoint's metadata; scripts do not see it.
KEY = "trainyard_versions"

_FRAMEWORKS = (
    "torch",
    "lightning",
    "pytorch_lightning",
    "transformers",
    "accelerate",
    "deepspeed",
    "jax",
    "tensorflow",
    "sklearn",
)


def versions() -> dict[str, str]:
    """The version of each loaded package. Imports nothing."""
    python = ".".join(str(number) for number in sys.version_info[:3])
    versions = {"python": python, "trainyard": __version__}
    for name in _FRAMEWORKS:
        version = getattr(sys.modules.get(name), "__version__", None)
        if version is not None:
            versions[name] = str(version)
    return versions


def with_versions(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata as sent to the platform: the script's, with the versions."""
    return {**metadata, KEY: versions()}


def without_versions(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata without the versions, as the script stored them."""
    return {name: value for name, value in metadata.items() if name != KEY}
