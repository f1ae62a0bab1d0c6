"""Stores checkpoints in a thread, in the order of the calls, while the training continues.

An error of a checkpoint is raised once: by ``wait`` of its handle, by the script's next checkpoint call, or at the
end of the run. The end of the run waits for all checkpoints.
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
        """Stores the checkpoint, in the background thread, and keeps any error for ``check``."""
        work, self.work = self.work, None
        if work is None:
            return
        try:
            work()
        # Any error, also KeyboardInterrupt, is raised later in the script's thread.
        except BaseException as error:
            self.error = error

    def check(self) -> None:
        """Raises the error of the background work, the first time that it is called."""
        error, self.error = self.error, None
        if error is not None:
            raise error


class StoredCheckpoint:
    """A checkpoint that is being stored."""

    def __init__(self, job: _Job, changed: threading.Condition) -> None:
        self.uuid = job.uuid
        """The checkpoint's UUID. The checkpoint can be restored once it is stored."""
        self._job = job
        self._changed = changed

    def done(self) -> bool:
        """Whether the checkpoint is stored, or has failed."""
        return self._job.is_done

    def wait(self, timeout_s: float | None = None) -> bool:
        """Waits until the checkpoint is stored. Returns False on timeout. Raises the error of a failed store."""
        with self._changed:
            self._changed.wait_for(self.done, timeout_s)
            self._job.check()
            return self._job.is_done


class Background:
    """The background thread and its queue of checkpoints."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: collections.deque[_Job] = collections.deque()
        self._failed: collections.deque[_Job] = collections.deque()
        self._thread: threading.Thread | None = None
        # The ranks' background threads use connections separate from those of the training threads.
        self._branch: Group | None = None

    def branch_of(self, distributed: DistributedContext) -> Group:
        """Returns the connections between the ranks' background threads. Every rank must call this at the same
        point.
        """
        if self._branch is None:
            self._branch = group_of(distributed).branch()
        return self._branch

    def submit(self, uuid: str, work: Callable[[], None]) -> StoredCheckpoint:
        """Queues the work behind all earlier work."""
        job = _Job(uuid, work)
        with self._changed:
            # Each queued job holds a copy of the model: two are enough to keep the storage busy.
            self._changed.wait_for(lambda: len(self._waiting) < 2)
            self._waiting.append(job)
            if self._thread is None:
                name = "trainyard-background-checkpoints"
                self._thread = threading.Thread(target=self._run, name=name, daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return StoredCheckpoint(job, self._changed)

    def check(self) -> None:
        """Raises the first background error that was not raised before."""
        with self._changed:
            while self._failed:
                self._failed.popleft().check()

    def drain(self, timeout_s: float | None = None) -> bool:
        """Waits for all queued work. Returns False on timeout. Raises the first error that was not raised before."""
        # The work itself calls checkpoint methods: the background thread must not wait for itself.
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
            # The job drops its reference to the work, which may hold a copy of the whole model.
            job.run()
            with self._changed:
                job.is_done = True
                if job.error is not None:
                    self._failed.append(job)
                self._waiting.popleft()
                self._changed.notify_all()

    def close(self) -> None:
        """Closes the connections to the other ranks' background threads."""
        if self._branch is not None:
            self._branch.close()
