"""Converts a configuration in any accepted form to the text that is submitted."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Union

from ._pack import CodeError

Config = Union[str, "os.PathLike[str]", Mapping[str, Any]]


def config_text(config: Config) -> str:
    """Returns the configuration as text. A mapping becomes JSON, which is also YAML. A ``str`` of several lines,
    or one that begins with ``{``, is YAML itself; any other is the path of a file. Raises CodeError for a file
    that cannot be read, and TypeError for a value that has no JSON form.
    """
    if isinstance(config, Mapping):
        return json.dumps(config, default=_plain)
    if isinstance(config, str) and ("\n" in config or config.lstrip().startswith("{")):
        return config
    path = Path(config)
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise CodeError(f"The configuration {path} does not exist.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise CodeError(f"The configuration {path} cannot be read: {error}.") from error


def _plain(value: Any) -> Any:
    """Converts paths and NumPy numbers to JSON values."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    item = getattr(value, "item", None)
    if callable(item):
        return item()
    raise TypeError(f"a configuration cannot contain a {type(value).__name__}: {value!r}")
