"""Fetches the last save of a task's folder and unpacks it: ``python -m trainyard._work._restore``.

The agent starts it as the run's user before a resumed run. The program reads one line of JSON from stdin: ``url``,
``token``, ``run``, ``checkpoint``, ``fetched`` (a folder for the files of the save, which is removed at the end) and
``target``, an empty folder. The exit status is 0, REFUSED for a damaged save, or 1. The reason of a failure is the
last line on stderr. The program ends when stdin ends, since then the agent has died.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from pathlib import Path

from .._checkpoint._store import RemoteStore
from .._checkpoint._uploader_status import REFUSED
from .._storage import DamagedError, check_visible, copy_out
from ..errors import TrainyardError
from ._unpack import MalformedError, unpack


def restore(url: str, token: str, run: str, checkpoint: str, fetched: str, target: str) -> None:
    """Unpacks the save of a checkpoint into the folder ``target``. Raises TrainyardError or OSError."""
    folder = Path(fetched)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        store = RemoteStore(url, run, token, folder)
        plan = store.plan(checkpoint)
        save = folder / checkpoint
        if plan.store:
            store.fetch(checkpoint, plan)
        else:
            check_visible(checkpoint, plan)
            copy_out(checkpoint, plan, save, None)
        unpack(save, Path(target), moves=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _end_with_the_agent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


def main() -> int:
    """Runs the program and returns its exit status."""
    order = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_the_agent, daemon=True).start()
    try:
        restore(**order)
    except (DamagedError, MalformedError) as error:
        return _failed(error, REFUSED)
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
