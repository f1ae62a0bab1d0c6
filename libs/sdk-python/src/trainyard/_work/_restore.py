"""Fetches the last save of a task's folder and unpacks it: ``python -m trainyard._work._restore``.

The agent starts it as the run's user before a resumed run. The program reads one line of JSON from stdin: ``url``,
``token``, ``run``, ``checkpoint``, ``fetched`` (a folder for the files of the save, which is removed at the end) and
``target``, an empty folder, and the limits ``bytes_max`` and ``files_max`` of what it unpacks. After a failure
the folder is empty. The exit status is 0, REFUSED for a damaged save, TOO_LARGE for one beyond the limits, or 1. The
reason of a failure is the last line on stderr. The program ends when stdin ends, since then the agent has died.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import sys
import threading
from pathlib import Path
from typing import NamedTuple

from .._checkpoint._store import RemoteStore
from .._checkpoint._uploader_status import REFUSED
from .._storage import DamagedError, Plan, check_visible, copy_out
from ..errors import TrainyardError
from . import _below
from ._unpack import BeyondLimitsError, Limits, MalformedError, unpack

# The exit status for a save that an agent with larger limits restores.
TOO_LARGE = 66


class Order(NamedTuple):
    """The save to restore, and the folder for its files."""

    url: str
    token: str
    run: str
    checkpoint: str
    fetched: str
    target: str
    bytes_max: int
    files_max: int


def restore(order: Order) -> None:
    """Unpacks the save of a checkpoint into the target. Raises TrainyardError or OSError, and leaves it empty then."""
    folder, target, checkpoint = Path(order.fetched), Path(order.target), order.checkpoint
    limits = Limits(order.bytes_max, order.files_max)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        store = RemoteStore(order.url, order.run, order.token, folder)
        plan = store.plan(checkpoint)
        limits.check_stored(sum(entry.bytes for entry in plan.manifest))
        save = folder / checkpoint
        if plan.store:
            store.fetch(checkpoint, plan)
        else:
            check_visible(checkpoint, plan)
            with _below.entered(str(plan.path.parent)) as storage:
                _copy(checkpoint, plan, save, storage)
        unpack(save, target, moves=True, limits=limits)
    except BaseException:
        for path in target.iterdir():
            is_folder = path.is_dir() and not path.is_symlink()
            (shutil.rmtree if is_folder else os.unlink)(path)
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy(checkpoint: str, plan: Plan, save: Path, storage: int) -> None:
    """Copies a save that others may replace meanwhile, and verifies what was copied."""
    with contextlib.ExitStack() as stack:
        try:
            source = stack.enter_context(_below.opened_folder(storage, plan.path.name))
        except (FileNotFoundError, NotADirectoryError) as error:
            raise DamagedError(f"checkpoint {checkpoint} is damaged: it is no folder") from error
        copy_out(checkpoint, plan, save, None, functools.partial(_below.opened_file, source))


def _end_with_the_agent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


def main() -> int:
    """Runs the program and returns its exit status."""
    order = Order(**json.loads(sys.stdin.buffer.readline()))
    threading.Thread(target=_end_with_the_agent, daemon=True).start()
    try:
        restore(order)
    except (DamagedError, MalformedError) as error:
        return _failed(error, REFUSED)
    except BeyondLimitsError as error:
        return _failed(error, TOO_LARGE)
    except (TrainyardError, OSError, ValueError) as error:
        return _failed(error, 1)
    return 0


def _failed(error: Exception, status: int) -> int:
    sys.stderr.write(f"{error}\n")
    return status


if __name__ == "__main__":
    status = main()
    sys.stderr.flush()
    os._exit(status)
