"""``ctx.tensorboard``: where a trial's TensorBoard files are, and who writes them."""

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

# A run that is killed loses what its writers held back, which is this many seconds' worth.
FLUSH_S = 10


class TensorBoardContext:
    """The trial's TensorBoard files. Every rank may use it; each has a folder of its own, since
    TensorBoard follows one file of a folder at a time.
    """

    def __init__(self, info: Info, rank: int, sync: TensorBoardSync | None = None) -> None:
        self._info = info
        self._rank = rank
        self._sync = sync
        self._files = TensorBoardFiles(lambda: self.path, info.run, self._purge_step)

    @property
    def path(self) -> Path:
        """The folder for this trial's files, which is there when this returns: that of rank 0 is the
        trial's own, that of another rank ``rank-<n>`` in it. Everything written there stays, for
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
        defaults = {
            "log_dir": str(self.path),
            "flush_secs": FLUSH_S,
            "purge_step": self._purge_step,
        }
        writer = make(**{**defaults, **arguments})
        self._files.add(writer)
        return writer

    def mirror_metrics(self) -> None:
        """Writes what ``ctx.train`` reports from here on into TensorBoard too, as
        ``<group>/<name>``. Needs no package.

        Reports count whatever becomes of their copies: a storage that does not take them costs a
        warning.
        """
        self._files.mirrors = True

    @property
    def _purge_step(self) -> int | None:
        """From which step on this run does again what earlier ones did; None for a first run."""
        return None if self._info.run == 1 else math.floor(self._info.steps_completed) + 1


def files_of(tensorboard: TensorBoardContext) -> TensorBoardFiles:
    """Returns the files of a context, for the run itself."""
    return tensorboard._files  # noqa: SLF001 — the only way to it


class Discarded(TensorBoardContext):
    """The files of a trial outside of any run: they are removed with the process."""

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
