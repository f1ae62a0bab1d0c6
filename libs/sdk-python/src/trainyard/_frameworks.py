"""What the integrations with training frameworks share."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Optional


def require(module: str, user: str, install: Optional[str] = None) -> ModuleType:
    """Imports the package that an integration is for.

    Raises ImportError with one sentence that says who needs it and how to install it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = install or module.split(".")[0]
        raise ImportError(
            f"{user} needs the package {package}, which cannot be imported here ({error}): "
            f"install it with 'pip install {package}' in the environment of the entrypoint"
        ) from error
