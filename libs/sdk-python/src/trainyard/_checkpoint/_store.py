"""Records checkpoints at the platform, over HTTP.

A call of the RemoteStore retries until the platform answers, through an outage of up to an hour. It raises when
the hour is over, or when the answer is a permanent refusal. Reads use it directly, because a script cannot
continue without them. Storing goes through the spool (see _spooled_store) if the storage's root is known, so that
training does not wait.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from .. import _log as log
from .. import _storage_marker, _values, _versions
from .._http import Backoff, HttpConnection, Reply, UnreachableError
from .._limits import (
    CHECKPOINT_BACKOFF_FIRST_S,
    CHECKPOINT_BACKOFF_MAX_S,
    CHECKPOINT_DEFECT_S,
    CHECKPOINT_NOTICE_S,
    CHECKPOINT_PATIENCE_S,
    CHECKPOINT_TIMEOUT_S,
)
from .._spool import last_validation
from .._storage import FileEntry, Plan, seal
from ..errors import CheckpointError, RunSupersededError
from . import _read_ahead

if TYPE_CHECKING:
    from ._transfer import Planned


class CheckpointStore(Protocol):
    """Records checkpoints. Its methods raise CheckpointError when the platform refuses permanently."""

    def declare(self, uuid: str, steps_completed: float, metadata: dict[str, Any]) -> Path:
        """Announces a checkpoint and returns the folder to write it to."""
        raise NotImplementedError

    def seal(self, uuid: str, folder: Path) -> list[FileEntry]:
        """Syncs the files of a folder to disk and returns their manifest. Raises the same errors as ``check``."""
        raise NotImplementedError

    def check(self, folder: Path, manifest: list[FileEntry]) -> None:
        """Raises ValueError if the sealed files are too many or too large for the storage."""

    def complete(self, uuid: str, manifest: list[FileEntry]) -> None:
        """Declares that all files are stored. Only then can the checkpoint be restored."""

    def give_up(self, uuid: str) -> None:
        """Declares that the checkpoint will not be completed, and that its folder was removed."""

    def plan(self, uuid: str) -> Plan:
        """Returns the location and manifest of a complete checkpoint."""
        raise NotImplementedError

    def fetch(self, uuid: str, plan: Plan) -> None:
        """Downloads the files of a plan into its folder if an object store has them."""

    def report_damage(self, uuid: str, damage: str) -> str:
        """Reports that a complete checkpoint is damaged. Returns the finding, as the end of an error message."""
        raise NotImplementedError

    def by_host(self) -> HostParts | None:
        """The store of each host's files of one checkpoint; None if all hosts write to one folder."""
        raise NotImplementedError

    def close(self, timeout_s: float) -> None:
        """Stops storing, after waiting up to ``timeout_s`` seconds for the platform's decisions."""


class HostParts(Protocol):
    """A checkpoint whose files several hosts upload to an object store."""

    def folder(self, uuid: str) -> Path:
        """The folder for the checkpoint's files on this host. Every process of the host calls this."""
        raise NotImplementedError

    def last_validation(self) -> str:
        """The key of the last validation that this host has recorded; empty for none."""
        raise NotImplementedError

    def complete_part(self, uuid: str, manifest: list[FileEntry], last_validation: str) -> None:
        """Declares that this host's files are stored; the chief's host completes the checkpoint. ``last_validation``
        is the chief's, since only the chief validates.
        """

    def complete_all(self, uuid: str, manifest: list[FileEntry], of_others: list[Any]) -> None:
        """Declares that the files of the chief's host are stored, and lists the files that other hosts upload."""


class RemoteStore:
    """The platform's registry, through the gateway."""

    def __init__(
        self, url: str, run: str, token: str, fetched: Path, spool: Path | None = None
    ) -> None:
        self._url = url
        self._token = token
        # The folder for downloads from an object store.
        self._fetched = fetched
        # The folder of the run's reports.
        self._spool = spool
        self._run_path = f"/api/v1/runs/{quote(run, safe='')}/checkpoints"
        # The storage's root from the platform's last answer.
        self._root: Path | None = None

    def declare(self, uuid: str, steps_completed: float, metadata: dict[str, Any]) -> Path:
        """Announces a checkpoint and returns the folder to write it to."""
        declared = _versions.with_versions(metadata)
        message = {"checkpoint": uuid, "stepsCompleted": steps_completed, "metadata": declared}
        named = "" if self._spool is None else last_validation(self._spool)
        if named:
            message["lastValidation"] = named
        root = self._root
        folder = self._declare(uuid, {**message, **_storage_id(root)})
        if folder.parent != root:
            # The platform's answer names the storage, so its id can be sent only with a second declaration.
            self._root = folder.parent
            storage_id = _storage_id(self._root)
            if storage_id:
                self._declare(uuid, {**message, **storage_id})
        return folder

    def _declare(self, uuid: str, message: dict[str, Any]) -> Path:
        failing = f"checkpoint {uuid} could not be declared"
        return folder_of(uuid, self._call(failing, "POST", self._run_path, message))

    def read_ahead(self, uuid: str, folder: Path) -> None:
        """Has the platform read the large files of a folder, without waiting for it."""
        files = _read_ahead.worth_reading(folder)
        if files:
            path = f"{self._run_path}/{quote(uuid, safe='')}/ahead"
            _read_ahead.ask(self._url, self._token, path, files)

    def seal(self, uuid: str, folder: Path) -> list[FileEntry]:
        """Syncs the files of a folder to disk and returns their manifest."""
        self.read_ahead(uuid, folder)
        return seal(folder)

    def check(self, folder: Path, manifest: list[FileEntry]) -> None:
        """A directory storage accepts every sealed checkpoint."""

    def complete(self, uuid: str, manifest: list[FileEntry]) -> None:
        """Declares that all files are stored."""
        message = {"manifest": [entry.message() for entry in manifest]}
        path = f"{self._run_path}/{quote(uuid, safe='')}/complete"
        self._call(f"checkpoint {uuid} could not be completed", "POST", path, message)

    def give_up(self, uuid: str) -> None:
        """Does nothing: the registry abandons the checkpoint when the run ends."""

    def by_host(self) -> None:
        """Returns None: all hosts write to the folder that the platform names."""

    def close(self, timeout_s: float) -> None:
        """Does nothing: this store has no pending checkpoints."""

    def plan(self, uuid: str, *, is_on_its_way: bool = False) -> Plan:
        """Returns the location of a complete checkpoint. ``is_on_its_way``: waits until the checkpoint is complete."""
        path = f"/api/v1/checkpoints/{quote(uuid, safe='')}/plan"
        early = _NOT_YET if is_on_its_way else ()
        answer = self._call(f"checkpoint {uuid} cannot be read", "GET", path, None, early)
        manifest = [entry_of(uuid, entry) for entry in answer.get("manifest") or []]
        metadata = _versions.without_versions(answer.get("metadata") or {})
        storage_id, store = answer.get("storageId") or "", answer.get("store") or ""
        folder = self._fetched / uuid if store else folder_of(uuid, answer)
        return Plan(folder, manifest, metadata, storage_id, store)

    def fetch(self, uuid: str, plan: Plan) -> None:
        """Downloads the files of a plan into its folder if an object store has them."""
        if not plan.store:
            return
        # A local import: few scripts need threads and HTTP.
        from ._fetch import fetch

        fetch(uuid, plan.manifest, plan.path.parent, lambda paths: self._plan_files(uuid, paths))

    def report_damage(self, uuid: str, damage: str) -> str:
        """Has the platform read the checkpoint, which it then starts no later run from. Returns its finding."""
        from ._damage import report

        path = f"{self._run_path}/{quote(uuid, safe='')}/damaged"
        connection = HttpConnection(self._url, self._token, CHECKPOINT_TIMEOUT_S)
        try:
            return report(connection, path, damage)
        finally:
            connection.close()

    def _plan_files(self, uuid: str, paths: list[str]) -> dict[str, Planned]:
        from ._transfer import Planned

        path = f"/api/v1/checkpoints/{quote(uuid, safe='')}/files"
        answer = self._call(f"checkpoint {uuid} cannot be read", "POST", path, {"paths": paths})
        files = answer.get("files") or []
        return {str(file["path"]): Planned.of(file.get("request")) for file in files}

    def _call(
        self, failing: str, method: str, path: str, message: Any | None, early: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """Sends one request until it is answered, without blocking other threads. Retries a refusal with a code in
        ``early``.
        """
        connection = HttpConnection(self._url, self._token, CHECKPOINT_TIMEOUT_S)
        body = None if message is None else _values.encode(message)
        patience = _Patience(failing)
        try:
            while True:
                try:
                    reply = connection.request(method, path, body)
                except UnreachableError as error:
                    patience.wait(None, str(error))
                    continue
                if reply.is_success():
                    return reply.json()
                is_early = reply.json().get("code") in early
                if is_final(reply) and not is_early:
                    raise refusal_of(failing, reply)
                patience.wait(None if is_early else reply, reply.problem())
        finally:
            connection.close()


# The refusal codes for a checkpoint that its hosts have not declared or completed yet.
_NOT_YET = ("checkpoint_not_found", "checkpoint_not_complete")


def _storage_id(root: Path | None) -> dict[str, str]:
    """The field of a declaration with the storage's id; empty if this host does not know the id."""
    if root is None:
        return {}
    try:
        return {"storageId": _storage_marker.mark(root)}
    except _storage_marker.MarkerError as error:
        log.warning("%s; the platform does not delete this storage's checkpoints", error)
        return {}


class _Patience:
    """The growing waits between the retries of one call, with a warning every minute. A lasting defect or outage
    raises.
    """

    def __init__(self, failing: str) -> None:
        self._failing = failing
        self._backoff = Backoff(CHECKPOINT_BACKOFF_FIRST_S, CHECKPOINT_BACKOFF_MAX_S)
        self._defect_since: float | None = None
        self._ends_at = time.monotonic() + CHECKPOINT_PATIENCE_S
        self._notice_at = time.monotonic() + CHECKPOINT_BACKOFF_MAX_S

    def wait(self, reply: Reply | None, why: str) -> None:
        now = time.monotonic()
        if not is_defect(reply):
            self._defect_since = None
        elif self._defect_since is None:
            self._defect_since = now
        elif now - self._defect_since > CHECKPOINT_DEFECT_S:
            raise CheckpointError(
                f"{self._failing}: the platform has failed for "
                f"{CHECKPOINT_DEFECT_S / 60:.0f} minutes: {why}"
            )
        if now >= self._ends_at:
            raise CheckpointError(
                f"{self._failing}: the platform has not answered for "
                f"{CHECKPOINT_PATIENCE_S / 60:.0f} minutes: {why}"
            )
        if now >= self._notice_at:
            log.warning("%s yet (%s); trying again until the platform answers", self._failing, why)
            self._notice_at = now + CHECKPOINT_NOTICE_S
        time.sleep(self._backoff.next_s(reply))


def is_defect(reply: Reply | None) -> bool:
    """Whether an undecided answer is an internal error of the platform, not an outage."""
    if reply is None or not reply.is_of_platform():
        return False
    return reply.status not in (408, 425, 429, 502, 503, 504)


def is_final(reply: Reply) -> bool:
    """Whether a repeat of the request would get the same answer."""
    return (
        reply.is_of_platform() and 400 <= reply.status < 500 and reply.status not in (408, 425, 429)
    )


def refusal_of(failing: str, reply: Reply) -> CheckpointError:
    """The error for a permanent refusal."""
    kind = RunSupersededError if reply.json().get("code") == "run_superseded" else CheckpointError
    return kind(f"{failing}: {reply.problem()}")


def folder_of(uuid: str, answer: dict[str, Any]) -> Path:
    """The folder that the platform's answer names."""
    path = answer.get("path")
    if not isinstance(path, str) or not path.startswith("/"):
        raise CheckpointError(
            f"the platform gave no folder for checkpoint {uuid}: "
            "this SDK stores to directories only"
        )
    return Path(path)


def entry_of(uuid: str, entry: Any) -> FileEntry:
    """Reads a manifest entry from its proto JSON, which omits zeros. Raises CheckpointError if it is malformed."""
    try:
        return FileEntry(str(entry["path"]), int(entry.get("bytes", 0)), str(entry["sha256"]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CheckpointError(
            f"the manifest of checkpoint {uuid} cannot be read: {entry!r}"
        ) from error
