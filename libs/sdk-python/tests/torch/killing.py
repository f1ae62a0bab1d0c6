"""Helpers for the tests of integrations: a training that is killed, and a platform that requests a stop."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import runpy
import signal
import socket
import sys
import tempfile
import traceback
import unittest
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable
from unittest import mock

from fake_platform import FakePlatform, wait_until

import trainyard

EXAMPLES = Path(trainyard.__file__).resolve().parents[4] / "examples"


def load_ahead() -> None:
    """Imports the modules that torch imports at an optimizer's first step: once, instead of in each forked child."""
    importlib.import_module("torch._dynamo")


def kill_myself() -> None:
    """Ends this process like ``kill -9``."""
    os.kill(os.getpid(), signal.SIGKILL)


def in_a_child(work: Callable[[], None]) -> int:
    """Runs ``work`` in a forked process and returns its exit code: 0, or the negated signal. A fork is used
    because importing a framework again would take longer than the test.
    """
    return os.waitstatus_to_exitcode(os.waitpid(start_child(work), 0)[1])


def start_child(work: Callable[[], None]) -> int:
    """Forks and returns the child's process id."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    return child


def in_children(count: int, work: Callable[[], None]) -> list[int]:
    """Runs ``work`` in several forked processes that connect like the launcher's."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    children = []
    for rank in range(count):
        place = {"RANK": rank, "WORLD_SIZE": count, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": count}
        host = {"GROUP_RANK": 0, "GROUP_WORLD_SIZE": 1, "MASTER_PORT": port}
        env = {name: str(value) for name, value in {**place, **host}.items()}
        with mock.patch.dict(os.environ, {**env, "MASTER_ADDR": "127.0.0.1"}):
            children.append(start_child(work))
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


class FrameworkCase(unittest.TestCase):
    """Uses a temporary folder, no task's environment, and one computing thread."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        environment = mock.patch.dict(os.environ)
        environment.start()
        self.addCleanup(environment.stop)
        for name in [name for name in os.environ if name.startswith("TRAINYARD_")]:
            del os.environ[name]

    def open_local(self, name: str = "here", **arguments: Any) -> trainyard.Context:
        with contextlib.redirect_stderr(io.StringIO()):
            return trainyard.init(local_dir=self.folder / name, **arguments)

    def open_together(self, name: str = "here", **arguments: Any) -> trainyard.Context:
        """Opens the common context of all processes, in a child of ``in_children``."""
        distributed = trainyard.DistributedContext.from_torch_distributed()
        return self.open_local(name, distributed=distributed, **arguments)

    @contextlib.contextmanager
    def a_platform(self, **env: str) -> Iterator[FakePlatform]:
        """Yields a fake platform, with the environment of one of its tasks."""
        platform = FakePlatform(self.folder / "storage")
        try:
            with mock.patch.dict(os.environ, platform.env(self.folder / "run", **env)):
                yield platform
        finally:
            platform.stop()

    def ask_to_stop(self, platform: FakePlatform, ctx: trainyard.Context) -> None:
        """Requests a stop, and waits until the context has seen it."""
        platform.ask_to_stop("pause")
        watcher = ctx.preempt._watcher
        assert watcher is not None
        wait_until(lambda: watcher.why == "pause")

    def run_example(
        self, script: str, *arguments: str, processes: int = 1, name: str = "here"
    ) -> None:
        """Runs a script of ``examples`` without a cluster, in forked processes, with a local folder."""

        def run() -> None:
            self.run_script(script, name, *arguments)

        ended = [in_a_child(run)] if processes == 1 else in_children(processes, run)
        self.assertEqual(ended, [0] * processes, (self.folder / "said").read_text()[-2000:])

    def run_script(self, script: str, name: str, *arguments: str) -> None:
        """Runs a script of ``examples`` in this process, which must end afterwards."""
        path = EXAMPLES / script
        os.environ["TRAINYARD_LOCAL_DIR"] = str(self.folder / name)
        os.chdir(self.folder)
        sys.argv = [str(path), *arguments]
        sys.path.insert(0, str(path.parent))
        with open(self.folder / "said", "a") as said:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                runpy.run_path(str(path), run_name="__main__")

    def reports(self, group: str, name: str = "here", run: int = 1) -> list[dict[str, Any]]:
        file = self.folder / name / f"run-{run}/spool/reports.ndjson"
        found = [json.loads(line) for line in file.read_text().splitlines() if line]
        return [report for report in found if report["group"] == group]

    def steps(self, group: str, name: str = "here", run: int = 1) -> list[float]:
        return [report["stepsCompleted"] for report in self.reports(group, name, run)]

    def latest(self, name: str = "here") -> Path | None:
        """Returns the folder of the latest complete checkpoint."""
        lines = (self.folder / name / "checkpoints/complete.ndjson").read_text().split()
        return self.folder / name / "checkpoints" / json.loads(lines[-1])["uuid"]
