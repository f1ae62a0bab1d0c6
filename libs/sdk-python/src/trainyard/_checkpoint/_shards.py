"""Stores one checkpoint from the files of several ranks.

Every rank writes into its folder ``.rank-<n>`` inside the checkpoint's folder, and syncs its files to disk. Then
the chief compares all names, each rank moves its files into the checkpoint's folder, and the chief completes the
checkpoint with the merged manifest. Thus a name that two ranks use is detected before one file replaces the other.
An error on one rank is raised on all ranks, and no rank waits for a failed one. Sharded checkpoints need a
directory that all hosts see at the same path, or an object store. With an object store each host seals and uploads
the files of its ranks, and the chief's host completes the checkpoint when all files are in the store.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable, NamedTuple

from .. import _storage, _values
from .._distributed import RankGroup
from .._files import sync_folder
from .._storage import FileEntry
from ..errors import CheckpointError, DistributedError
from ._parts import digest
from ._store import CheckpointStore, HostParts


class Here(NamedTuple):
    """The position of a process: its host's number, the number of hosts, and whether it is the host's first
    process.
    """

    host: int
    hosts: int
    is_first: bool


class Place(NamedTuple):
    """A checkpoint that is being written."""

    uuid: str
    folder: Path
    steps_completed: float
    metadata: dict[str, Any]


class Part(NamedTuple):
    """The files of one rank."""

    host: int
    entries: list[FileEntry]
    # The digests that an object store verifies, as proto JSON; only if a host other than the chief's uploads the
    # files.
    digests: list[Any]


@contextlib.contextmanager
def store_shard(
    store: CheckpointStore, together: RankGroup, here: Here, uuid: str | None, metadata: object
) -> Iterator[tuple[Path, str]]:
    """Yields this rank's folder and the UUID; called by every rank in the same order."""
    place = _begin(store, together, uuid, metadata)
    by_host = store.by_host() if here.hosts > 1 else None
    if by_host is not None:
        place = place._replace(folder=by_host.folder(place.uuid))
    # One process per host cleans up a host's separate folder; the chief cleans up a shared folder.
    keeps = here.is_first if by_host is not None else together.rank == 0
    own_folder = place.folder / f".rank-{together.rank}"
    try:
        part = Part(here.host, [], [])
        failure: BaseException | None = None
        try:
            if by_host is not None:
                _begin_here(store, together, here, place)
            # The parent folder is not created: if it is missing, the hosts do not share the storage.
            own_folder.mkdir()
            yield own_folder, place.uuid
            part = _seal(own_folder, here, by_host)
        except BaseException as error:
            failure = error
        parts = _agree(together, failure, part, lambda parts: _merge(store, place.folder, parts))
        failure = _attempt(lambda: _move(own_folder, place.folder, part.entries))
        own, named = _agree(together, failure, None, lambda _: _finish(place, parts, by_host))
    except BaseException:
        if keeps:
            import shutil

            shutil.rmtree(place.folder, ignore_errors=True)
            store.give_up(place.uuid)
        raise
    _complete(store, together, here, place, parts, own, named, by_host)


def _begin_here(store: CheckpointStore, together: RankGroup, here: Here, place: Place) -> None:
    if here.is_first and together.rank != 0:
        store.declare(place.uuid, place.steps_completed, place.metadata)
    os.makedirs(place.folder, exist_ok=True)


def _complete(
    store: CheckpointStore,
    together: RankGroup,
    here: Here,
    place: Place,
    parts: list[Part],
    own: list[FileEntry],
    named: str,
    by_host: HostParts | None,
) -> None:
    if by_host is None:
        _agree(together, None, None, lambda _: store.complete(place.uuid, own))
        return
    failure: BaseException | None = None
    if here.is_first and together.rank != 0:
        entries = sorted(
            entry for part in parts if part.host == here.host for entry in part.entries
        )
        failure = _attempt(lambda: by_host.complete_part(place.uuid, entries, named))
    of_others = [entry for part in parts for entry in part.digests]
    _agree(together, failure, None, lambda _: by_host.complete_all(place.uuid, own, of_others))


def _begin(
    store: CheckpointStore, together: RankGroup, uuid: str | None, metadata: object
) -> Place:
    plain: dict[str, Any] = {}
    failure = _attempt(lambda: plain.update(_values.metrics_of(metadata, "metadata")))

    def declare(parts: list[dict[str, Any]]) -> Place:
        merged, steps = check_metadata(_merge_metadata(parts))
        # A local import: `import trainyard` must stay fast.
        from uuid import uuid4

        name = uuid if uuid is not None else str(uuid4())
        folder = store.declare(name, steps, merged)
        try:
            os.makedirs(folder, exist_ok=True)
        except BaseException:
            store.give_up(name)
            raise
        return Place(name, folder, steps, merged)

    place: Place = _agree(together, failure, plain, declare)
    return place


def check_metadata(metadata: Any) -> tuple[dict[str, Any], float]:
    """Returns the metadata as proto JSON, and its number of steps. Raises if a value cannot be stored."""
    plain = _values.metrics_of(metadata, "metadata")
    if "steps_completed" not in plain:
        raise ValueError("metadata needs 'steps_completed': the steps that the checkpoint holds")
    steps = _values.steps_of(metadata["steps_completed"])
    plain["steps_completed"] = steps
    # Text that has no UTF-8 encoding is refused before anything is declared.
    _values.encode(plain)
    return plain, steps


def _attempt(action: Callable[[], Any]) -> BaseException | None:
    try:
        action()
        return None
    except BaseException as error:
        return error


def _agree(
    together: RankGroup,
    failure: BaseException | None,
    part: object,
    decide: Callable[[list[Any]], Any],
) -> Any:
    """Gathers every rank's part and returns the chief's decision on every rank. An error on one rank is raised on
    all.
    """
    answers = together.gather((None if failure is None else _text(failure), part))
    answer: tuple[str | None, Any] = (None, None)
    if answers is not None:
        answer, failure = _answer(together, answers, failure, decide)
    error, value = together.broadcast(answer)
    if failure is not None:
        raise failure
    if error is not None:
        raise CheckpointError(f"the checkpoint could not be stored: {error}")
    return value


def _answer(
    together: RankGroup,
    answers: list[tuple[str | None, Any]],
    failure: BaseException | None,
    decide: Callable[[list[Any]], Any],
) -> tuple[tuple[str | None, Any], BaseException | None]:
    failed = [(rank, text) for rank, (text, _) in enumerate(answers) if text is not None]
    if failed:
        rank, text = failed[0]
        return (f"rank {rank}: {text}", None), failure
    try:
        return (None, decide([part for _, part in answers])), None
    except DistributedError:
        raise
    except BaseException as error:
        return (_text(error), None), error


def _text(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _merge_metadata(parts: list[dict[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    owner: dict[str, int] = {}
    for rank, part in enumerate(parts):
        for name, value in part.items():
            if name in merged and merged[name] != value:
                raise ValueError(
                    f"ranks {owner[name]} and {rank} give different metadata {name!r}: "
                    "give it on one rank, or the same on all"
                )
            merged[name] = value
            owner.setdefault(name, rank)
    return merged


def _seal(own_folder: Path, here: Here, by_host: HostParts | None) -> Part:
    metadata = own_folder / _storage.METADATA
    if metadata.exists():
        if not _storage.is_own_metadata(metadata):
            raise ValueError(f"{metadata}: this name is reserved for the SDK: use another")
        metadata.unlink()
    _storage.replace_links(own_folder)
    entries = _storage.seal(own_folder)
    if by_host is None or here.host == 0:
        return Part(here.host, entries, [])
    # The chief's host completes the checkpoint, but cannot read the files of this host.
    digests = [digest(own_folder, entry, lambda count: None).message() for entry in entries]
    return Part(here.host, entries, digests)


def _merge(store: CheckpointStore, folder: Path, parts: list[Part]) -> list[Part]:
    owner: dict[str, int] = {}
    folders: dict[str, int] = {}
    merged: list[FileEntry] = []
    for rank, part in enumerate(parts):
        for entry in part.entries:
            path = entry.path
            if path in owner:
                raise _conflict(path, owner[path], rank)
            owner[path] = rank
            merged.append(entry)
            for parent in _parents(path):
                folders.setdefault(parent, rank)
    for path, rank in owner.items():
        if path in folders:
            raise _conflict(path, rank, folders[path])
    _storage.check_manifest(folder, merged)
    store.check(folder, merged)
    return parts


def _conflict(path: str, one: int, other: int) -> ValueError:
    return ValueError(
        f"ranks {one} and {other} both store {path!r}: "
        "name files after their rank, or store common files on one rank"
    )


def _parents(path: str) -> Iterator[str]:
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


def _move(own_folder: Path, folder: Path, entries: list[FileEntry]) -> None:
    import shutil

    parents = {folder}
    for entry in entries:
        target = folder / entry.path
        target.parent.mkdir(parents=True, exist_ok=True)
        os.rename(own_folder / entry.path, target)
        parents.update(folder / parent for parent in _parents(entry.path))
    shutil.rmtree(own_folder)
    for parent in parents:
        sync_folder(parent)


def _finish(
    place: Place, parts: list[Part], by_host: HostParts | None
) -> tuple[list[FileEntry], str]:
    """Writes the metadata file. Returns the manifest of the chief's folder, and the key of its last validation."""
    here = [part for part in parts if by_host is None or part.host == 0]
    _storage.write_metadata(place.folder, place.metadata)
    entry = _storage.seal_file(place.folder, _storage.METADATA)
    sync_folder(place.folder)
    sync_folder(place.folder.parent)
    manifest = sorted([*(entry for part in here for entry in part.entries), entry])
    return manifest, "" if by_host is None else by_host.last_validation()
