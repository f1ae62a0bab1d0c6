"""``ctx.tensorboard``: where a trial's TensorBoard files lie, and who writes them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _log as log
from .._info import Info
from ._place import folder_of, is_kept

if TYPE_CHECKING:
    from ._events import EventFile

# TensorBoard follows one file of a folder at a time, so what is mirrored has one of its own.
MIRROR = "metrics"
# A run that is killed loses what its writers held back, which is this many seconds' worth.
FLUSH_S = 10


class TensorBoardContext:
    """The trial's TensorBoard files. Every rank may use it; each has a folder of its own, since
    TensorBoard follows one file of a folder at a time.
    """

    def __init__(self, info: Info, rank: int) -> None:
        self._info = info
        self._rank = rank
        self._writers: list[Any] = []
        self._mirror: EventFile | None = None
        self._mirrors = False
        self._failed = False

    @property
    def path(self) -> Path:
        """The folder for this trial's files, which is there when this returns: that of rank 0 is the
        trial's own, that of another rank ``rank-<n>`` in it. Whatever is written there stays, for
        as long as the storage does.
        """
        folder = folder_of(self._info)
        if self._rank > 0:
            folder = folder / f"rank-{self._rank}"
        if not folder.is_dir():
            if not is_kept(self._info):
                log.warning(
                    "the checkpoint storage is not known on this node: "
                    "TensorBoard files stay in %s",
                    folder,
                )
            folder.mkdir(parents=True, exist_ok=True)
        return folder

    def writer(self, **arguments: Any) -> Any:
        """A ``torch.utils.tensorboard.SummaryWriter`` into ``path``, which the end of the run closes.

        ``arguments`` are those of SummaryWriter. What an earlier run had written beyond the checkpoint
        that this one starts from disappears from TensorBoard, as its metrics do. Raises ImportError
        where the packages are missing.
        """
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise ImportError(
                "ctx.tensorboard.writer needs the packages torch and tensorboard: install them, "
                "or write files of your own to ctx.tensorboard.path"
            ) from error
        # Said as a keyword of a type that is not known here.
        make: Any = SummaryWriter
        given = {"log_dir": str(self.path), "flush_secs": FLUSH_S, "purge_step": self._purge_step}
        writer = make(**{**given, **arguments})
        self._writers.append(writer)
        return writer

    def mirror_metrics(self) -> None:
        """Writes what ``ctx.train`` reports from here on into TensorBoard too, as
        ``<group>/<name>``. Needs no package.

        Reports count whatever becomes of their copies: a storage that does not take them costs a
        warning.
        """
        self._mirrors = True

    def _reported(self, group: str, steps: int | float, metrics: Mapping[str, Any]) -> None:
        if not self._mirrors or self._failed:
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
                # Loaded here, since a script's start waits for what is loaded before.
                from ._events import EventFile

                self._mirror = EventFile(self.path / MIRROR, self._info.run, self._purge_step)
            self._mirror.add(int(steps), scalars)
        except OSError as error:
            self._failed = True
            log.warning("metrics are no longer copied into TensorBoard files: %s", error)

    @property
    def _purge_step(self) -> int | None:
        """From which step on this run does again what earlier ones did; None for a first run."""
        return None if self._info.run == 1 else math.floor(self._info.steps_completed) + 1

    def _close(self) -> None:
        """Writes what the writers hold back."""
        writers, self._writers = self._writers, []
        for writer in writers:
            try:
                writer.close()
            except Exception as error:
                log.warning("a TensorBoard file was not closed: %s", error)
        if self._mirror is not None:
            self._mirror.close()
            self._mirror = None


class Discarded(TensorBoardContext):
    """For a trial outside of any run: whatever is written goes with the process."""

    def __init__(self, info: Info) -> None:
        super().__init__(info, 0)
        self._folder: Path | None = None

    @property
    def path(self) -> Path:
        """A folder that is removed when the process ends."""
        if self._folder is None:
            import atexit
            import shutil
            import tempfile

            self._folder = Path(tempfile.mkdtemp(prefix="trainyard-"))
            atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder


def _scalar_of(value: Any) -> float | None:
    """The number of a metric in proto JSON; None for what is not charted."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity"):
        return float(value.replace("Infinity", "inf"))
    return None
