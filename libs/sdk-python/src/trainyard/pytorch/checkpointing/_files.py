"""The files of a checkpoint."""

from __future__ import annotations

import io
import json
import pickle
from pathlib import Path
from typing import Any

import torch

SHARED = "state_dict.pth"
TRIAL = "trial.json"


_OF_TORCHS_WRITER = ("inline_container", "iostream")


def rank_file(rank: int) -> str:
    """Where a process's own state is."""
    return f"rank-{rank}.pth"


def packed(state: dict[str, Any]) -> bytes:
    """A process's own state as the bytes of its file. Raises TypeError in one sentence for a state that
    does not pickle.
    """
    buffer = io.BytesIO()
    try:
        torch.save(state, buffer)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            f"the state of a callback or reducer cannot be stored ({error}): give it a state_dict() "
            "that returns what pickles, and load_state_dict()"
        ) from error
    return buffer.getvalue()


def write(folder: Path, shared: dict[str, Any], own: list[bytes], trial: dict[str, Any]) -> None:
    """Writes all files of a checkpoint; ``own`` has an entry for each process."""
    try:
        torch.save(shared, folder / SHARED)
    except RuntimeError as error:
        if not any(mark in str(error) for mark in _OF_TORCHS_WRITER):
            raise
        # All that torch says of a full disk is where it wrote and where it had meant to, or less.
        reason = str(error).splitlines()[0]
        raise OSError(
            f"{folder / SHARED} could not be written ({reason}): check whether the storage is full"
        ) from error
    for rank, content in enumerate(own):
        (folder / rank_file(rank)).write_bytes(content)
    (folder / TRIAL).write_text(json.dumps(trial, indent=2), encoding="utf-8")


def read_shared(folder: Path, uuid: str, **arguments: object) -> dict[str, Any]:
    """The part that is the same in all processes. Unpickles, so the checkpoint is trusted like code."""
    path = folder / SHARED
    if not path.is_file():
        raise ValueError(
            f"checkpoint {uuid} has no {SHARED}, so pytorch.Trainer did not store it: load it in the "
            "trial's __init__ instead"
        )
    arguments = {"map_location": "cpu", "weights_only": False, **arguments}
    return _loaded(path, uuid, arguments)


def read_own(folder: Path, rank: int, uuid: str) -> dict[str, Any] | None:
    """A process's own state; None where the checkpoint had fewer processes."""
    path = folder / rank_file(rank)
    if not path.is_file():
        return None
    return _loaded(path, uuid, {"map_location": "cpu", "weights_only": False})


def _loaded(path: Path, uuid: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        state: dict[str, Any] = torch.load(path, **arguments)
        return state
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"{path.name} of checkpoint {uuid} needs code that cannot be imported here ({error}): train with the "
            "code that stored it, or start without the checkpoint"
        ) from error


def read_trial(folder: Path) -> dict[str, Any]:
    """Reads which trial stored the checkpoint."""
    path = folder / TRIAL
    if not path.is_file():
        raise ValueError(
            f"{folder} has no {TRIAL}: give load_trial_from_checkpoint_path the folder of a "
            "checkpoint that pytorch.Trainer stored"
        )
    identity: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return identity
