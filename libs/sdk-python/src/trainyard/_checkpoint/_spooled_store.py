"""Stores checkpoints without waiting long for the platform.

The agent passes the storage's root to the process, and a checkpoint's folder is ``<root>/<uuid>``. Thus the files,
their manifest and the record in the run's spool can be written while the platform is unavailable. Declaring and
completing follow in the background (see _sender).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import _log as log
from .. import _storage_marker
from .._storage import FileEntry, Plan, check_uploaded, seal
from ._parts import Digested, snapshot
from ._sender import CheckpointSender
from ._spool import CheckpointSpool, Record
from ._store import RemoteStore


class SpooledStore:
    """Stores checkpoints in the platform's registry by way of the run's spool."""

    def __init__(
        self, remote: RemoteStore, spool: CheckpointSpool, sender: CheckpointSender
    ) -> None:
        self._remote = remote
        self._spool = spool
        self._sender = sender
        self._open: dict[str, tuple[float, dict[str, Any], str]] = {}
        self._digested: dict[str, tuple[Any, ...]] = {}
        # The checkpoints that have files on several hosts.
        self._shared: set[str] = set()
        self._marker_noted = False

    def declare(self, uuid: str, steps_completed: float, metadata: dict[str, Any]) -> Path:
        """Returns the folder to write the checkpoint to."""
        self._sender.wait_for_room(uuid)
        self._open[uuid] = (steps_completed, metadata, self._mark())
        self._spool.begin(uuid)
        return self._sender.root / uuid

    def seal(self, uuid: str, folder: Path) -> list[FileEntry]:
        """Syncs the files of a folder to disk. For files that will be uploaded, the same read hashes their parts."""
        if not self._sender.uploads:
            self._remote.read_ahead(uuid, folder)
            return seal(folder)
        digested: list[Digested] = []

        def entry_of(folder: Path, path: str) -> FileEntry:
            digested_file = snapshot(folder, path, lambda count: None, wants_md5=False)
            digested.append(digested_file)
            return digested_file.entry

        manifest = seal(folder, entry_of)
        self.check(folder, manifest)
        self._digested[uuid] = tuple(file.message() for file in sorted(digested))
        return manifest

    def check(self, folder: Path, manifest: list[FileEntry]) -> None:
        """Raises ValueError if the manifest would be too long for an object store."""
        if self._sender.uploads:
            check_uploaded(folder, manifest)

    def complete(self, uuid: str, manifest: list[FileEntry]) -> None:
        """Adds the checkpoint to the spool. Without an upload, waits up to two seconds for the platform's decision."""
        self._sender.submit(self._record(uuid, manifest))
        if not self._sender.uploads:
            self._sender.wait(uuid)

    def by_host(self) -> SpooledStore | None:
        """Returns this store if checkpoints go to an object store: each host then seals and uploads its files."""
        return self if self._sender.uploads else None

    def folder(self, uuid: str) -> Path:
        """The folder on this host for its files of a checkpoint that has files on several hosts."""
        self._shared.add(uuid)
        return self._sender.root / uuid

    def last_validation(self) -> str:
        """The key of the last validation that this host has recorded; empty for none."""
        return self._spool.last_validation()

    def complete_part(self, uuid: str, manifest: list[FileEntry], last_validation: str) -> None:
        """Adds this host's part of a checkpoint to the spool, for upload."""
        record = self._record(uuid, manifest)
        self._sender.submit(record._replace(is_part=True, last_validation=last_validation))

    def complete_all(self, uuid: str, manifest: list[FileEntry], of_others: list[Any]) -> None:
        """Adds the checkpoint to the spool. It is complete once the other hosts have uploaded their files, too."""
        self._sender.submit(self._record(uuid, manifest)._replace(of_others=tuple(of_others)))

    def _record(self, uuid: str, manifest: list[FileEntry]) -> Record:
        steps_completed, metadata, storage_id = self._open.pop(uuid)
        digested = self._digested.pop(uuid, ())
        named = self._spool.last_validation()
        return Record(
            uuid, steps_completed, metadata, manifest, storage_id, named, digested=digested
        )

    def give_up(self, uuid: str) -> None:
        """Discards a checkpoint that is incomplete."""
        self._open.pop(uuid, None)
        self._spool.give_up(uuid)
        self._digested.pop(uuid, None)

    def plan(self, uuid: str) -> Plan:
        """Returns the location of a checkpoint that is complete or waits for the platform."""
        if uuid in self._shared:
            # No host has all files of the checkpoint; the store will have them soon.
            return self._remote.plan(uuid, is_on_its_way=True)
        waiting = self._sender.pending(uuid)
        if waiting is None:
            return self._remote.plan(uuid)
        return Plan(self._sender.root / uuid, waiting.manifest, waiting.metadata)

    def fetch(self, uuid: str, plan: Plan) -> None:
        """Downloads the files of a plan into its folder if an object store has them."""
        self._remote.fetch(uuid, plan)

    def report_damage(self, uuid: str, damage: str) -> str:
        """Has the platform read the checkpoint. Returns its finding."""
        return self._remote.report_damage(uuid, damage)

    def _mark(self) -> str:
        """The id of the storage as seen from this host; empty if unknown, which does not stop the training."""
        if self._sender.uploads:
            # The files are sealed on this host: only the platform needs the store's id.
            return ""
        try:
            return _storage_marker.mark(self._sender.root)
        except _storage_marker.MarkerError as error:
            if not self._marker_noted:
                self._marker_noted = True
                message = "%s; checkpoints are still stored, but the platform deletes none of them"
                log.warning(message, error)
            return ""

    def close(self, timeout_s: float) -> None:
        """Waits up to ``timeout_s`` seconds for pending checkpoints; the agent delivers the rest."""
        self._sender.close(timeout_s)
