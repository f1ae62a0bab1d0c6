"""Stores checkpoints without ever waiting long for the platform.

The storage's root is known from the launch, and a checkpoint's folder is ``<root>/<uuid>``; so its files
can be written, and their manifest be made and put into the run's spool, while the platform is away.
Declaring and completing follow in the background (see _sender), as soon as that can be.
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
    """The platform's registry, behind the run's spool."""

    def __init__(
        self, remote: RemoteStore, spool: CheckpointSpool, sender: CheckpointSender
    ) -> None:
        self._remote = remote
        self._spool = spool
        self._sender = sender
        self._begun: dict[str, tuple[float, dict[str, Any], str]] = {}
        self._digested: dict[str, tuple[Any, ...]] = {}
        # Checkpoints of which other hosts have files.
        self._shared: set[str] = set()
        self._marker_noted = False

    def declare(self, uuid: str, steps_completed: float, metadata: dict[str, Any]) -> Path:
        """Names the folder to write to."""
        self._sender.wait_for_room(uuid)
        self._begun[uuid] = (steps_completed, metadata, self._mark())
        self._spool.begin(uuid)
        return self._sender.root / uuid

    def seal(self, uuid: str, folder: Path) -> list[FileEntry]:
        """Makes the files of a folder durable; of those that are uploaded the parts are hashed by the same read."""
        if not self._sender.uploads:
            self._remote.read_ahead(uuid, folder)
            return seal(folder)
        digested: list[Digested] = []

        def entry_of(folder: Path, path: str) -> FileEntry:
            found = snapshot(folder, path, lambda count: None, wants_md5=False)
            digested.append(found)
            return found.entry

        manifest = seal(folder, entry_of)
        self.check(folder, manifest)
        self._digested[uuid] = tuple(file.message() for file in sorted(digested))
        return manifest

    def check(self, folder: Path, manifest: list[FileEntry]) -> None:
        """Raises ValueError where an object store's manifest would be too long."""
        if self._sender.uploads:
            check_uploaded(folder, manifest)

    def complete(self, uuid: str, manifest: list[FileEntry]) -> None:
        """Puts the checkpoint into the spool, and waits a short time for the platform, unless it is uploaded."""
        self._sender.submit(self._record(uuid, manifest))
        if not self._sender.uploads:
            self._sender.wait(uuid)

    def by_host(self) -> SpooledStore | None:
        """Where checkpoints go to an object store, each host seals and sends its own files."""
        return self if self._sender.uploads else None

    def folder(self, uuid: str) -> Path:
        """The folder on this host for its files of a checkpoint of several hosts."""
        self._shared.add(uuid)
        return self._sender.root / uuid

    def complete_part(self, uuid: str, manifest: list[FileEntry]) -> None:
        """Puts this host's files into the spool, to be sent."""
        self._sender.submit(self._record(uuid, manifest)._replace(is_part=True))

    def complete_all(self, uuid: str, manifest: list[FileEntry], of_others: list[Any]) -> None:
        """Puts the checkpoint into the spool; it is complete once the other hosts have sent their files too."""
        self._sender.submit(self._record(uuid, manifest)._replace(of_others=tuple(of_others)))

    def _record(self, uuid: str, manifest: list[FileEntry]) -> Record:
        steps_completed, metadata, storage_id = self._begun.pop(uuid)
        digested = self._digested.pop(uuid, ())
        return Record(uuid, steps_completed, metadata, manifest, storage_id, digested=digested)

    def give_up(self, uuid: str) -> None:
        """Forgets a checkpoint that is not whole."""
        self._begun.pop(uuid, None)
        self._spool.give_up(uuid)
        self._digested.pop(uuid, None)

    def plan(self, uuid: str) -> Plan:
        """Where a checkpoint is: one that waits for the platform, or a complete one."""
        if uuid in self._shared:
            # No host has all files; the store has them soon.
            return self._remote.plan(uuid, is_on_its_way=True)
        waiting = self._sender.pending(uuid)
        if waiting is None:
            return self._remote.plan(uuid)
        return Plan(self._sender.root / uuid, waiting.manifest, waiting.metadata)

    def fetch(self, uuid: str, plan: Plan) -> None:
        """Has the files of a plan in its folder."""
        self._remote.fetch(uuid, plan)

    def _mark(self) -> str:
        """The id of the storage, as this host sees it; empty where it is not known, which stops no training."""
        if self._sender.uploads:
            # The files are sealed on this host; the platform knows the store.
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
        """Waits that long for what is pending; the agent continues with the rest."""
        self._sender.close(timeout_s)
