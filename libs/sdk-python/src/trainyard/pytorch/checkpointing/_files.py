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
    """The name of the file with a process's state."""
    return f"rank-{rank}.pth"


def packed(state: dict[str, Any]) -> bytes:
    """Pickles a process's state. Raises TypeError for a state that cannot be pickled."""
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
    """Writes all files of a checkpoint; ``own`` has the state of each process."""
    try:
        torch.save(shared, folder / SHARED)
    except RuntimeError as error:
        if not any(mark in str(error) for mark in _OF_TORCHS_WRITER):
            raise
        # torch's error for a full disk has only byte positions, so the message is completed.
        reason = str(error).splitlines()[0]
        raise OSError(
            f"{folder / SHARED} could not be written ({reason}): check whether the storage is full"
        ) from error
    for rank, content in enumerate(own):
        (folder / rank_file(rank)).write_bytes(content)
    (folder / TRIAL).write_text(json.dumps(trial, indent=2), encoding="utf-8")


def read_shared(folder: Path, uuid: str, **arguments: object) -> dict[str, Any]:
    """Reads the part that is the same in all processes. Reading unpickles, so the checkpoint must be as trusted as
    code.
    """
    path = folder / SHARED
    if not path.is_file():
        raise ValueError(
            f"checkpoint {uuid} has no {SHARED}, so pytorch.Trainer did not store it: load it in the "
            "trial's __init__ instead"
        )
    arguments = {"map_location": "cpu", "weights_only": False, **arguments}
    return _loaded(path, uuid, arguments)


def read_own(folder: Path, rank: int, uuid: str) -> dict[str, Any] | None:
    """Reads a process's state; None if the checkpoint was stored by fewer processes."""
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
    """Reads the identity of the trial that stored the checkpoint."""
    path = folder / TRIAL
    if not path.is_file():
        raise ValueError(
            f"{folder} has no {TRIAL}: give load_trial_from_checkpoint_path the folder of a "
            "checkpoint that pytorch.Trainer stored"
        )
    identity: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return identity
