"""Runs the tests of a folder and prints one JSON object per line, for a runner in another language.

``run_tests.py list FOLDER`` prints ``{"id": …}`` for each test; ``run_tests.py run FOLDER [MODULE]`` runs the
tests, or those of one file, and prints ``{"id": …, "failure": … or null, "skipped": … or null}`` at the end of
each. A failing subtest fails its test. A warning from the project's modules is an error, one from other modules
only under ``-W error``. Tests can import the modules in this file's folder.

``run_tests.py fork FOLDER COUNT PACKAGES MODULE…`` imports the packages, separated by commas, once, and runs each
module in a forked process, COUNT at a time. It prints a line for each module when its process has ended:
``{"module": …, "seconds": …, "code": …, "complaints": …, "ended": [the lines of its tests]}``.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import tempfile
import time
import traceback
import unittest
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import devices

TESTS = Path(__file__).parent
sys.path[:0] = [str(TESTS.parent / "src"), str(TESTS)]
OURS = r"trainyard|test_|fake_"
# Output of the tests and their processes must not mix with the lines for the runner.
told = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def say(message: Any) -> None:
    told.write(json.dumps(message) + "\n")
    told.flush()


def each(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from each(test)
        else:
            yield test


class Result(unittest.TestResult):
    """Prints the result of each test."""

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._failures: list = []
        self._skipped: str | None = None

    def addError(self, test: unittest.TestCase, error: Any) -> None:
        super().addError(test, error)
        self._note(test, self.errors[-1][1])

    def addFailure(self, test: unittest.TestCase, error: Any) -> None:
        super().addFailure(test, error)
        self._note(test, self.failures[-1][1])

    def addSubTest(self, test: unittest.TestCase, subtest: Any, error: Any) -> None:
        super().addSubTest(test, subtest, error)
        if error is not None:
            self._note(test, f"{subtest}\n{''.join(traceback.format_exception(*error))}")

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self._skipped = reason

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        self._note(test, "succeeded unexpectedly")

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        failure = "\n".join(self._failures) or None
        say({"id": test.id(), "failure": failure, "skipped": self._skipped})

    def _note(self, test: unittest.TestCase, text: str) -> None:
        if hasattr(self, "_failures"):
            self._failures.append(text)
        else:
            # An error outside of any test, for example in setUpClass.
            say({"id": test.id(), "failure": text, "skipped": None})


class Fork(NamedTuple):
    """A forked process that runs one module, and its output files, by descriptor."""

    module: str
    started: float
    lines: int
    complaints: int

    def say_end(self, code: int) -> None:
        lines, complaints = (_content(one) for one in (self.lines, self.complaints))
        ended = [json.loads(line) for line in lines.splitlines()]
        seconds = time.monotonic() - self.started
        outcome = {"seconds": seconds, "code": code, "complaints": complaints, "ended": ended}
        say({"module": self.module, **outcome})


def _nameless_file() -> int:
    descriptor, path = tempfile.mkstemp()
    os.unlink(path)
    return descriptor


def _content(descriptor: int) -> str:
    with os.fdopen(descriptor, "rb") as file:
        file.seek(0)
        return file.read().decode("utf-8", "replace")


def run(folder: str, module: str) -> None:
    suite = unittest.defaultTestLoader.discover(folder, pattern=f"{module}.py")
    warnings.filterwarnings("error", module=OURS)
    suite.run(Result())


def run_forks(folder: str, count: int, packages: list[str], modules: list[str]) -> None:
    """Runs modules in forks. It also returns in each fork, after the fork's module: the fork then ends like any
    interpreter.
    """
    # The garbage collector would search the packages' objects during the imports, in each fork, and at each fork's
    # end, where it would also copy their memory, and finds none to free.
    gc.disable()
    for package in packages:
        importlib.import_module(package)
    gc.freeze()
    gc.enable()
    waiting, running = list(modules), {}
    while waiting or running:
        while waiting and len(running) < count:
            one = Fork(waiting.pop(0), time.monotonic(), _nameless_file(), _nameless_file())
            child = os.fork()
            if child == 0:
                os.dup2(one.lines, told.fileno())
                os.dup2(one.complaints, 2)
                os.dup2(2, 1)
                run(folder, one.module)
                return
            running[child] = one
        child, status = os.wait()
        running.pop(child).say_end(os.waitstatus_to_exitcode(status))


def main(task: str = "", folder: str = str(TESTS), *rest: str) -> None:
    devices.use_one_cpu_thread()
    if task == "list":
        for test in each(unittest.defaultTestLoader.discover(folder, pattern="test*.py")):
            say({"id": test.id()})
    elif task == "run":
        run(folder, *(rest or ["test*"]))
    elif task == "fork" and len(rest) > 1:
        count, packages, *modules = rest
        run_forks(folder, int(count), packages.split(","), modules)
    else:
        raise SystemExit("usage: run_tests.py list|run|fork [FOLDER …]")


if __name__ == "__main__":
    main(*sys.argv[1:])
