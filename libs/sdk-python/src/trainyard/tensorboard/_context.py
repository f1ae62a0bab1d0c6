"""``ctx.tensorboard``: the folder of a trial's TensorBoard files, and the ways to write them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from .. import _log as log
from .. import _storage_marker
from .._info import Info
from ._files import TensorBoardFiles
from ._folder import folder_of, is_kept, mark_own_root
from ._sync import TensorBoardSync

# The flush interval in seconds: a killed run loses at most the events of this time.
FLUSH_S = 10


class TensorBoardContext:
    """The trial's TensorBoard files. Every rank may use them. Each rank has a separate folder, since TensorBoard
    follows one file of a folder at a time.
    """

    def __init__(self, info: Info, rank: int, sync: TensorBoardSync | None = None) -> None:
        self._info = info
        self._rank = rank
        self._sync = sync
        self._files = TensorBoardFiles(lambda: self.path, info.run, self._purge_step)

    @property
    def path(self) -> Path:
        """The folder for this trial's TensorBoard files, created if needed. Rank 0 has the trial's folder, other
        ranks have ``rank-<n>`` in it. Files in it are kept as long as the storage.
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
            try:
                mark_own_root()
            except (OSError, _storage_marker.MarkerError) as error:
                log.warning(
                    "%s; the platform will not delete the TensorBoard files with their experiment",
                    error,
                )
            folder.mkdir(parents=True, exist_ok=True)
        if self._sync is not None:
            self._sync.start()
        return folder

    def writer(self, **arguments: object) -> Any:
        """Returns a ``torch.utils.tensorboard.SummaryWriter`` into ``path``, which is closed at the end of the
        run. ``arguments`` are those of SummaryWriter. TensorBoard hides values that an earlier run wrote after the
        checkpoint from which this run starts, like the metrics' charts do. Raises ImportError if the packages are
        missing.
        """
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise ImportError(
                "ctx.tensorboard.writer needs the packages torch and tensorboard: install them, "
                "or write files of your own to ctx.tensorboard.path"
            ) from error
        # Passed as a keyword of type Any, since the type checker does not know the class.
        make: Any = SummaryWriter
        defaults = {
            "log_dir": str(self.path),
            "flush_secs": FLUSH_S,
            "purge_step": self._purge_step,
        }
        writer = make(**{**defaults, **arguments})
        self._files.add(writer)
        return writer

    def mirror_metrics(self) -> None:
        """Writes later reports of ``ctx.train`` into TensorBoard files, too, as ``<group>/<name>``. Needs no
        package. If a copy cannot be written, a warning is logged and the report is unaffected.
        """
        self._files.mirrors = True

    @property
    def _purge_step(self) -> int | None:
        """The step from which this run repeats steps of earlier runs; None for a first run."""
        return None if self._info.run == 1 else math.floor(self._info.steps_completed) + 1


def files_of(tensorboard: TensorBoardContext) -> TensorBoardFiles:
    """Returns the open files of a context, for the run itself."""
    return tensorboard._files  # noqa: SLF001 — the only way to it


class Discarded(TensorBoardContext):
    """TensorBoard files of a trial outside of any run: they are removed at the end of the process."""

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
