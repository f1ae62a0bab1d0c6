"""Commands, shells, notebooks and TensorBoards on the cluster."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from .._code import CodeError, Config, config_text, packed
from .._files import PathLike
from ._api import Api, segment
from ._create import overrides_of, warnings_of
from ._people_calls import PeopleCalls
from ._shown import Listing, Shown, text_of, time_of
from ._task import Logged

_ENDED = frozenset({"PAUSED", "COMPLETED", "KILLED", "ERROR"})


class Task(Shown, Logged):
    """A command, a shell, a notebook or a TensorBoard on the cluster, with its fields as of the request: ``id`` (such
    as ``"t12"``), ``kind``, ``name``, ``state`` (QUEUED, STARTING, RUNNING, STOPPING, PAUSED, COMPLETED, KILLED or
    ERROR), ``reason`` (why it waits or has ended), ``exit_code`` (None if there is none), ``owner``, ``workspace``,
    ``pool``, ``slots``, ``priority``, ``restarts``, ``ports`` and ``runs`` (the API's objects), ``has_page``,
    ``keeps_work`` (whether its folder is saved, so that it can be paused and resumed), ``last_save`` (the API's
    object of its latest save; None if there is none), ``unsaved`` (why its folder is not saved, and where it is; empty
    if it is saved), ``sources`` (of a TensorBoard), ``created_at_ms``, ``started_at_ms``, ``ended_at_ms``, and
    ``warnings`` of the call that created it.
    """

    _shown: ClassVar = ("id", "kind", "name", "state", "reason", "exit_code", "created_at_ms")

    def __init__(self, api: Api, message: Mapping[str, Any], warnings: Iterable[str] = ()) -> None:
        super().__init__(message)
        self._api = api
        self.id = str(message["id"])
        self.kind = text_of(message, "kind")
        self.name = text_of(message, "name")
        self.state = text_of(message, "state")
        self.reason = text_of(message, "reason")
        code = message.get("exitCode")
        self.exit_code: int | None = None if code is None else int(code)
        self.owner = text_of(message, "owner")
        self.workspace = text_of(message, "workspace")
        self.pool = text_of(message, "pool")
        self.slots = int(message.get("slots") or 0)
        self.priority = int(message.get("priority") or 0)
        self.restarts = int(message.get("restarts") or 0)
        self.ports: list[dict[str, Any]] = list(message.get("ports") or [])
        self.runs: list[dict[str, Any]] = list(message.get("runs") or [])
        self.has_page = bool(message.get("hasPage"))
        self.keeps_work = bool(message.get("keepsWork"))
        self.last_save: dict[str, Any] | None = message.get("lastSave")
        self.unsaved = text_of(message, "unsaved")
        self.sources: list[str] = list(message.get("sources") or [])
        self.created_at_ms = time_of(message, "createdAtMs")
        self.started_at_ms = time_of(message, "startedAtMs")
        self.ended_at_ms = time_of(message, "endedAtMs")
        self.warnings = list(warnings)

    def reload(self) -> Task:
        """Returns the task with its present fields."""
        return Task(self._api, self._api.get(self._path))

    def wait(self, timeout_s: float | None = None, interval_s: float = 1.0) -> Task:
        """Waits until the task has ended, and returns it with its final fields: ``state`` is PAUSED, COMPLETED,
        KILLED or ERROR.

        The state is polled every ``interval_s`` seconds. Raises TimeoutError if the task has not ended after
        ``timeout_s`` seconds (None: no limit).
        """
        end_s = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            now = self.reload()
            if now.state in _ENDED:
                return now
            if end_s is not None and time.monotonic() + interval_s > end_s:
                raise TimeoutError(f"task {self.id} is {now.state} after {timeout_s} s")
            time.sleep(interval_s)

    def pause(self, reason: str = "") -> Task:
        """Saves the task's folder, ends its processes, and returns the task; ``wait()`` waits until both are done. An
        ended task stays as it is. Raises ApiError ``work_not_kept`` if its folder is not saved.
        """
        answer = self._api.call("POST", f"{self._path}/pause", {"reason": reason})
        return Task(self._api, answer["task"])

    def resume(self) -> Task:
        """Continues the ended task with the files of its latest save, on any agent, and returns it. Variables of its
        processes are gone. A task that has not ended stays as it is. Raises ApiError ``nothing_saved`` if there is
        no save, and ``work_not_kept`` if its folder is not saved.
        """
        answer = self._api.call("POST", f"{self._path}/resume", {})
        return Task(self._api, answer["task"])

    def kill(self, reason: str = "") -> Task:
        """Ends the task's processes at once, and returns the task. An ended task stays as it is."""
        answer = self._api.call("POST", f"{self._path}/kill", {"reason": reason})
        return Task(self._api, answer["task"])

    def download(self, path: PathLike | None = None) -> Path:
        """Downloads the files of the task's newest intact save, as ``yard task download`` does, and returns their
        folder: ``path``, or one named after the task. The task may have changed files since.

        Raises DownloadError if nothing of the task is saved, and FileExistsError for a folder that has files.
        """
        # A local import: most scripts download nothing.
        from ._download import download_save

        return download_save(self._api, self.id, Path(path or self.id))

    def delete(self) -> None:
        """Deletes the ended task with its log lines and saves. Raises ApiError ``task_not_ended`` while it has not
        ended.
        """
        self._api.call("DELETE", self._path)

    @property
    def _path(self) -> str:
        return f"/api/v1/tasks/{segment(self.id)}"


class TaskCalls(PeopleCalls):
    """The calls about tasks. See ``Client``."""

    def create_command(
        self,
        command: str | Sequence[str] = "",
        config: Config | None = None,
        context: PathLike | None = None,
        *,
        overrides: Mapping[str, Any] | None = None,
        workspace: str = "",
        key: str = "",
    ) -> Task:
        """Runs a command on the cluster, as ``yard cmd run`` does, and returns its task; ``wait()`` waits for its
        end, and ``logs(follow=True)`` yields its output.

        ``command`` is a list of words, which runs as it is, or a text, which a shell on the cluster runs; it may be
        left out if ``config`` has an ``entrypoint``. ``config`` is a mapping, the path of a YAML file, or YAML
        itself. ``context`` is a folder whose files the command finds in its folder: at most 50,000 files and 96 MiB
        packed. ``overrides`` replaces keys: ``{"resources.slots": 0}``. A second call with the same ``key`` returns
        the task created first.

        Raises CodeError for a folder that cannot be submitted, and ApiError for an invalid configuration: each of
        its ``problems`` names a key. After an error no task is created.
        """
        changes = dict(overrides or {})
        words: list[str] = []
        if isinstance(command, str):
            if command:
                changes["entrypoint"] = command
        else:
            words = list(command)
        return self._create_task("command", words, config, context, changes, workspace, key)

    def create_shell(
        self,
        config: Config | None = None,
        context: PathLike | None = None,
        *,
        overrides: Mapping[str, Any] | None = None,
        workspace: str = "",
        key: str = "",
    ) -> Task:
        """Starts a shell on the cluster, as ``yard shell start`` does, and returns its task, which runs until it is
        closed or killed. The arguments are those of ``create_command``.
        """
        return self._create_task("shell", [], config, context, overrides or {}, workspace, key)

    def create_notebook(
        self,
        config: Config | None = None,
        context: PathLike | None = None,
        *,
        overrides: Mapping[str, Any] | None = None,
        workspace: str = "",
        key: str = "",
    ) -> Task:
        """Starts a JupyterLab on the cluster, as ``yard notebook start`` does, and returns its task, which is RUNNING
        once the server answers. The arguments are those of ``create_command``.
        """
        return self._create_task("notebook", [], config, context, overrides or {}, workspace, key)

    def create_tensorboard(
        self,
        sources: Sequence[int | str],
        config: Config | None = None,
        *,
        overrides: Mapping[str, Any] | None = None,
        workspace: str = "",
        key: str = "",
    ) -> Task:
        """Starts a TensorBoard of experiments and trials, such as ``[12, "13.4"]``, as ``yard tensorboard start`` does,
        and returns its task. The other arguments are those of ``create_command``.
        """
        names = [str(source) for source in sources]
        changes = overrides or {}
        return self._create_task("tensorboard", [], config, None, changes, workspace, key, names)

    def get_task(self, task: str) -> Task:
        """Returns the task with this id, such as ``"t12"``."""
        return Task(self._api, self._api.get(f"/api/v1/tasks/{segment(task)}"))

    def list_tasks(self, filter: str = "", order_by: str = "") -> Listing[Task]:
        """Returns the tasks that match ``filter``, such as ``"kind = shell and state = RUNNING"``, the newest first
        or in the order of a field.
        """
        query = [("filter", filter), ("order_by", order_by)]
        return Listing(Task(self._api, item) for item in self._api.pages("/api/v1/tasks", query))

    def _create_task(
        self,
        kind: str,
        command: Sequence[str],
        config: Config | None,
        context: PathLike | None,
        overrides: Mapping[str, Any],
        workspace: str,
        key: str,
        sources: Sequence[str] = (),
    ) -> Task:
        text = "" if config is None else config_text(config)
        if "<masked>" in text:
            raise CodeError("The configuration has masked values: put the values in their places.")
        body: dict[str, Any] = {
            "kind": kind,
            "config": text,
            "command": list(command),
            "overrides": overrides_of(overrides),
            "workspace": workspace,
        }
        if sources:
            body["sources"] = list(sources)
        if context is not None:
            body["context"] = base64.b64encode(packed(context).content).decode("ascii")
        answer = self._api.call("POST", "/api/v1/tasks", body, key=key)
        return Task(self._api, answer["task"], warnings_of(answer))
