"""Stores checkpoints in a thread, one after the other in the order in which they were asked for, while
the training continues.

An error is raised once: by ``wait`` of its handle, or by whatever the script does with checkpoints next,
or at the end of the run, which waits for all of them.
"""

from __future__ import annotations

import collections
import threading
from typing import Callable

from .._distributed import DistributedContext
from .._distributed._context import group_of
from .._distributed._group import Group


class _Job:
    """One checkpoint to be stored, and its outcome."""

    def __init__(self, uuid: str, work: Callable[[], None]) -> None:
        self.uuid = uuid
        self.work: Callable[[], None] | None = work
        self.is_done = False
        self.error: BaseException | None = None

    def run(self) -> None:
        """Does it, in the thread."""
        work, self.work = self.work, None
        if work is None:
            return
        try:
            work()
        # Any error is the script's to see.
        except BaseException as error:
            self.error = error

    def check(self) -> None:
        """Raises what storing raised, once."""
        error, self.error = self.error, None
        if error is not None:
            raise error


class StoredCheckpoint:
    """A checkpoint that is being stored."""

    def __init__(self, job: _Job, changed: threading.Condition) -> None:
        self.uuid = job.uuid
        """Its UUID. It can be restored once it is stored."""
        self._job = job
        self._changed = changed

    def done(self) -> bool:
        """Whether it is stored, or has failed."""
        return self._job.is_done

    def wait(self, timeout_s: float | None = None) -> bool:
        """Waits until it is stored; False when that takes longer. Raises what storing raised."""
        with self._changed:
            self._changed.wait_for(self.done, timeout_s)
            self._job.check()
            return self._job.is_done


class Background:
    """The thread and its queue."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: collections.deque[_Job] = collections.deque()
        self._failed: collections.deque[_Job] = collections.deque()
        self._thread: threading.Thread | None = None
        # The ranks' threads agree on their own connections, at their own moments.
        self._branch: Group | None = None

    def branch_of(self, distributed: DistributedContext) -> Group:
        """The connections of the ranks' threads; every rank calls it at the same point."""
        if self._branch is None:
            self._branch = group_of(distributed).branch()
        return self._branch

    def submit(self, uuid: str, work: Callable[[], None]) -> StoredCheckpoint:
        """Does the work after all that was submitted before."""
        job = _Job(uuid, work)
        with self._changed:
            # Each holds a copy of the model: two are enough to keep the storage busy.
            self._changed.wait_for(lambda: len(self._waiting) < 2)
            self._waiting.append(job)
            if self._thread is None:
                name = "trainyard-background-checkpoints"
                self._thread = threading.Thread(target=self._run, name=name, daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return StoredCheckpoint(job, self._changed)

    def check(self) -> None:
        """Raises the first error that nobody has seen."""
        with self._changed:
            while self._failed:
                self._failed.popleft().check()

    def drain(self, timeout_s: float | None = None) -> bool:
        """Waits for all; False when that takes longer. Raises the first error that nobody has seen."""
        # The work itself uses checkpoints: it does not wait for itself.
        if threading.current_thread() is self._thread:
            return True
        with self._changed:
            is_empty = self._changed.wait_for(lambda: not self._waiting, timeout_s)
        self.check()
        return is_empty

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    self._changed.wait()
                job = self._waiting[0]
            # It lets go of its work, which may hold a copy of the whole model.
            job.run()
            with self._changed:
                job.is_done = True
                if job.error is not None:
                    self._failed.append(job)
                self._waiting.popleft()
                self._changed.notify_all()

    def close(self) -> None:
        """Leaves the other ranks' threads."""
        if self._branch is not None:
            self._branch.close()
