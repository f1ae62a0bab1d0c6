"""Saves the folder of a task on this host: ``python -m trainyard._work._save``.

The agent starts it as the run's user while the task runs, and when its processes are gone. The program reads one line
of JSON from stdin (see Order), writes a save into the folder of a checkpoint, and seals it with a record in the spool,
as the SDK does (``_checkpoint/_spool``). The agent has the platform declare, receive and complete it. The program
writes one JSON object to stdout:

- ``{"kind": "saved" | "unchanged", "files", "bytes", "leftOut": [sentences]}``, of an unchanged folder with ``last``,
  the checkpoint of the last save
- ``{"kind": "too_large", "why"}`` if the folder is beyond its limits. Nothing of it is left then.

Any other end is a failure, whose reason is the last line of stderr. The program may be killed at any time: what it has
written counts only from the record on, and the mark before it tells the agent which folder to remove. It ends when
stdin ends, since then the agent has died, and the next one starts another.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

from .. import _storage_marker
from .._checkpoint._spool import CheckpointSpool, Record
from .._files import write_by_rename
from .._storage import FileEntry, check_manifest, check_uploaded
from . import FORMAT, _below
from ._limits import LEFT_OUT_NAMED_MAX, STORED_MAX
from ._pack import Earlier, Packed, pack
from ._scan import Scan, TooLargeError, check_bytes, open_folder, scan
from ._units import Unit, fingerprint, units_of

# The record of the last save, in the folder of the saves.
LAST = "last.json"
# JupyterLab writes the layout of an open tab here every ten seconds. It is saved with other changes.
_LAYOUT = (b".jupyter", b"lab", b"workspaces")


class Order(NamedTuple):
    """The folder to save, and the place of the save."""

    # The task's folder.
    work: str
    # The folder of the saves on this host: their spool, and the record of the last one.
    saves: str
    # The folder of all checkpoints of the storage; the checkpoint's own folder is below it.
    root: str
    # The address of the object store, as s3://bucket/prefix; empty for a directory.
    store: str
    checkpoint: str
    step: float
    task: str
    run: int
    bytes_max: int
    files_max: int
    # The folder above root that only the operator can replace, as by a link; empty if root itself is one.
    trusted: str = ""
    # Whether the run has a user of its own: then, as for its processes, others on the host read nothing of it.
    is_private: bool = False


def save(order: Order) -> dict[str, Any]:
    """Saves the folder if it has changed since the last save of this run. Returns the result."""
    root_fd = open_folder(order.work)
    try:
        now_ns = time.time_ns()
        scanned = scan(root_fd, order.files_max, order.bytes_max)
        told = {"files": len(scanned.entries), "bytes": scanned.bytes}
        spool = CheckpointSpool(Path(order.saves) / "spool")
        last = _Last.read(Path(order.saves), spool)
        counted = (one for one in scanned.entries if not _is_layout(one.path))
        print_of = fingerprint(counted, now_ns)
        if print_of and last is not None and print_of == last.fingerprint:
            left_out = _sentences(scanned.left_out)
            return {"kind": "unchanged", **told, "last": last.folder.name, "leftOut": left_out}
        written = _write(order, root_fd, scanned, units_of(scanned.entries, now_ns), last, spool)
    except TooLargeError as error:
        return {"kind": "too_large", "why": str(error)}
    finally:
        os.close(root_fd)
    packed, manifest, storage_id = written
    metadata = {"format": FORMAT, "steps_completed": order.step, **told}
    record = Record(order.checkpoint, order.step, metadata, manifest, storage_id)
    spool.seal(record, [file.message() for file in packed.files] if order.store else None)
    target = Path(order.root) / order.checkpoint
    _Last(print_of if packed.is_stable else "", target, packed.keys).write(Path(order.saves))
    left_out = [*scanned.left_out, *packed.left_out]
    return {"kind": "saved", **told, "leftOut": _sentences(left_out)}


def _is_layout(path: bytes) -> bool:
    return tuple(path.split(b"/")[: len(_LAYOUT)]) == _LAYOUT


def _write(
    order: Order,
    work: int,
    scanned: Scan,
    units: list[Unit],
    last: _Last | None,
    spool: CheckpointSpool,
) -> tuple[Packed, list[FileEntry], str]:
    """Writes the files of a save. Returns them, their manifest and the id of their storage. On a failure nothing of
    them is left.
    """
    _remove_others(order, last, spool)
    spool.begin(order.checkpoint)
    with _below.made_root(order.root, order.trusted) as root:
        os.mkdir(order.checkpoint, dir_fd=root)
        try:
            with _below.opened_folder(root, order.checkpoint) as target:
                packed = _packed(order, work, scanned, units, last, (root, target))
            # A restore has the same limit.
            check_bytes(packed.bytes, order.bytes_max)
            manifest = [file.entry for file in packed.files]
            check_manifest(Path(order.root) / order.checkpoint, manifest)
            if order.store:
                check_uploaded(Path(order.root) / order.checkpoint, manifest)
        except (OSError, ValueError, TooLargeError):
            # On a full disk the next attempt needs the room.
            _below.remove_folder(root, order.checkpoint)
            raise
        return packed, manifest, _storage_id(order, root)


def _packed(
    order: Order,
    work: int,
    scanned: Scan,
    units: list[Unit],
    last: _Last | None,
    folders: tuple[int, int],
) -> Packed:
    root, target = folders
    about = {"task": order.task, "run": order.run}
    wants_md5 = not order.store.startswith("s3://")
    with contextlib.ExitStack() as stack:
        earlier = None
        if last is not None and last.folder.parent == Path(order.root):
            # Without its folder, nothing is a link to it.
            with contextlib.suppress(OSError):
                folder = stack.enter_context(_below.opened_folder(root, last.folder.name))
                earlier = Earlier(folder, last.units)
        packed = pack(work, scanned, units, target, about, earlier, wants_md5)
    _below.sync_names(root)
    _below.check_same(target, root, order.checkpoint)
    return packed


class _Last(NamedTuple):
    """The last save of this run on this host."""

    fingerprint: str
    folder: Path
    units: dict[str, dict[str, Any]]

    @staticmethod
    def read(saves: Path, spool: CheckpointSpool) -> _Last | None:
        """None without a save, or if the platform has refused the last one."""
        try:
            told = json.loads((saves / LAST).read_bytes())
            last = _Last(str(told["fingerprint"]), Path(told["folder"]), dict(told["units"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        records = (folder / f"{last.folder.name}.json" for folder in (spool.folder, spool.stored))
        return last if any(record.exists() for record in records) else None

    def write(self, saves: Path) -> None:
        told = {**self._asdict(), "folder": str(self.folder)}
        # Without it the next save is a whole one.
        with contextlib.suppress(OSError):
            write_by_rename(saves / LAST, json.dumps(told).encode())


def _remove_others(order: Order, last: _Last | None, spool: CheckpointSpool) -> None:
    """Removes the records of earlier complete saves but for a few, and the local files of saves that an object store
    has, but for the last one's: the next save links them.
    """
    with contextlib.suppress(OSError):
        stored = sorted(spool.stored.iterdir(), key=lambda record: record.stat().st_mtime_ns)
        for record in stored[:-STORED_MAX]:
            record.unlink(missing_ok=True)
    if not order.store:
        return
    with contextlib.suppress(OSError):
        for folder in Path(order.root).iterdir():
            is_pending = (spool.folder / f"{folder.name}.json").exists()
            if not is_pending and (last is None or folder != last.folder):
                shutil.rmtree(folder, ignore_errors=True)


def _storage_id(order: Order, root: int) -> str:
    if order.store:
        return ""
    try:
        return _storage_marker.mark(Path(_below.place_of(root, order.root)))
    except _storage_marker.MarkerError:
        # The platform then deletes no checkpoint there until an operator adopts the storage.
        return ""


def _sentences(left_out: list[tuple[bytes, str]]) -> list[str]:
    named = [
        f"{os.fsencode(os.fsdecode(path)).decode('utf-8', 'replace')} {why}"
        for path, why in left_out[:LEFT_OUT_NAMED_MAX]
    ]
    more = len(left_out) - len(named)
    return [*named, f"{more} others are not saved as they are"] if more > 0 else named


def _end_with_the_agent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


def main() -> int:
    """Runs the program and returns its exit status."""
    order = Order(**json.loads(sys.stdin.buffer.readline()))
    threading.Thread(target=_end_with_the_agent, daemon=True).start()
    if order.is_private:
        os.umask(0o007)
    try:
        result = save(order)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(json.dumps(result))
    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    status = main()
    # The thread that waits for the agent's end holds stdin.
    os._exit(status)
