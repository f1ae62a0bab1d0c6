"""Runs the tests of a folder and prints one JSON object a line, for a runner that is not Python's.

``run_tests.py list FOLDER`` prints ``{"id": …}`` for each test; ``run_tests.py run FOLDER [MODULE]``
runs them, or those of one file, and prints ``{"id": …, "failure": … or null, "skipped": … or null}``
as each one ends. A failing subtest fails its test. A warning that our own modules cause is an error;
of others' modules it is one under ``-W error``. Tests find what this file's folder holds.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
import unittest
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent
sys.path[:0] = [str(TESTS.parent / "src"), str(TESTS)]
OURS = r"trainyard|test_|fake_"
# What tests and their processes print must not come between the lines for the runner.
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
    """Says how each test ended."""

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
            # An error outside of any test, as in setUpClass.
            say({"id": test.id(), "failure": text, "skipped": None})


def main(task: str = "", folder: str = str(TESTS), module: str = "test*") -> None:
    suite = unittest.defaultTestLoader.discover(folder, pattern=f"{module}.py")
    if task == "list":
        for test in each(suite):
            say({"id": test.id()})
    elif task == "run":
        warnings.filterwarnings("error", module=OURS)
        suite.run(Result())
    else:
        raise SystemExit("usage: run_tests.py list|run [FOLDER [MODULE]]")


if __name__ == "__main__":
    main(*sys.argv[1:])
