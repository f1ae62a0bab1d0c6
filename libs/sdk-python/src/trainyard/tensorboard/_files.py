"""The open TensorBoard files of one process: the script's, and the copy of the reports."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from .. import _log as log

if TYPE_CHECKING:
    from ._events import EventFile

# The name of the copy's folder: TensorBoard follows one file of a folder at a time.
MIRROR = "metrics"


class TensorBoardFiles:
    """``folder`` is called when the first report is copied: until then nothing is created on the storage."""

    def __init__(self, folder: Callable[[], Path], run: int, purge_step: int | None) -> None:
        self._folder = folder
        self._run = run
        self._purge_step = purge_step
        self._writers: list[Any] = []
        self._mirror: EventFile | None = None
        self._failed = False
        self.mirrors = False
        """Whether reports are copied to TensorBoard files."""

    def add(self, writer: object) -> None:
        """Registers a writer of the script, to be closed at the end of the run."""
        self._writers.append(writer)

    def copy_report(self, group: str, steps: float, metrics: Mapping[str, Any]) -> None:
        """Copies a report. A storage that cannot be written causes no exception."""
        if not self.mirrors or self._failed:
            return
        scalars = {
            f"{group}/{name}": value
            for name, value in ((name, _scalar_of(value)) for name, value in metrics.items())
            if value is not None
        }
        if not scalars:
            return
        try:
            if self._mirror is None:
                # A local import, since every import delays the script's start.
                from ._events import EventFile

                self._mirror = EventFile(self._folder() / MIRROR, self._run, self._purge_step)
            self._mirror.add(int(steps), scalars)
        except OSError as error:
            self._failed = True
            log.warning("metrics are no longer copied to TensorBoard files: %s", error)

    def close(self) -> None:
        """Flushes and closes all writers."""
        writers, self._writers = self._writers, []
        for writer in writers:
            try:
                writer.close()
            except Exception as error:
                log.warning("a TensorBoard file was not closed: %s", error)
        if self._mirror is not None:
            self._mirror.close()
            self._mirror = None


def _scalar_of(value: object) -> float | None:
    """The number in a metric of proto JSON; None for a value that is not charted."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity"):
        return float(value.replace("Infinity", "inf"))
    return None
