"""Combines DeepSpeed's configuration with a trial's hyperparameters."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._context import Context
from .._frameworks import check_processes, require

SECTION = "deepspeed"


def configuration(ctx: Context, base: Mapping[str, Any] | str | Path) -> dict[str, Any]:
    """Returns a DeepSpeed configuration, a dict or the path of a JSON file, changed by the trial's hyperparameters
    of the section ``deepspeed``. Sections are merged, other values are replaced: ``deepspeed: {optimizer: {params:
    {lr: 0.01}}}`` changes only the learning rate. Raises ValueError if the section or the file is not a valid
    configuration.
    """
    if isinstance(base, (str, Path)):
        base = _read(Path(base))
    section = ctx.info.hparams.get(SECTION, {})
    if not isinstance(section, Mapping):
        raise ValueError(
            f"the hyperparameter '{SECTION}' must be a section of DeepSpeed's configuration, "
            f"not {section!r}"
        )
    return merged(base, section)


def initialize(ctx: Context, base: Mapping[str, Any] | str | Path, **arguments: object) -> Any:
    """Calls ``deepspeed.initialize`` with ``configuration(ctx, base)`` and returns its result: engine, optimizer,
    data loader and scheduler. ``arguments`` are those of DeepSpeed: ``model``, ``model_parameters``,
    ``training_data``, ….
    """
    deepspeed = require("deepspeed", "trainyard.deepspeed")
    check_processes(ctx, int(os.environ.get("WORLD_SIZE", "1")), "launcher")
    return deepspeed.initialize(config=configuration(ctx, base), **arguments)


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merges two dicts section by section; values of ``over`` win."""
    result = dict(base)
    for name, value in over.items():
        below = result.get(name)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            value = merged(below, value)
        result[name] = value
    return result


def _read(path: Path) -> Mapping[str, Any]:
    try:
        configuration = json.loads(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} is not a DeepSpeed configuration in JSON: {error}") from None
    if not isinstance(configuration, dict):
        raise ValueError(f"{path} is not a DeepSpeed configuration: it must be a JSON object")
    return configuration
