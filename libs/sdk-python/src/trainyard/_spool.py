"""The run's spool: a file to which every report is appended before its call returns.

Invariants, which the agent and the sender depend on:

- A report is one line of JSON, written by one ``write`` to a file opened for appending. Once the
  call has returned, the kernel has the line, and killing the process does not lose it.
- Lines are never changed. The sender frees the disk space of lines delivered long ago, as a hole in the
  file: the other lines keep their offsets.
- A full disk does not end the training: reports wait in this process's memory, up to a limit, and
  are written before the next report once the disk has space.
- Keys are ``<node rank>-<n>``, unique also when several processes of a node write. n starts at 1
  and increases, possibly with gaps.
- ``last-validation`` has the key of the last validation in the file. It is written after the line and before the call
  returns, so the report that it names is in the spool.
- A process that is killed inside ``write`` may leave an incomplete last line, for a report whose
  call never returned. The next writer ends that line with a newline before its own, so readers skip a
  complete line that is not JSON, and ignore the text after the last newline.

Several threads share one Spool; several processes (forked, or started by a launcher) each have
their own descriptor and take turns by ``flock``.
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import json
import os
import re
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from . import _log as log
from . import _values
from ._files import lock, unlock
from ._limits import HELD_REPORT_BYTES_MAX, METRIC_NAMES_MAX, REPORT_BYTES_MAX

REPORTS = "reports.ndjson"
ACKED = "reports.acked"
LAST_VALIDATION = "last-validation"
VALIDATION = "validation"

# The file is overwritten in one small write, without a rename: it needs no free disk, and no reader sees a part.
_NAME_CHARACTERS = 31

# The last keys are read from this many bytes at the end of the file: enough for two lines of the largest size.
TAIL_BYTES = 2 * (REPORT_BYTES_MAX + 256)
# A report from a signal handler inside another report's call is written first, so the last line may lack the
# highest number. Handlers do not nest as deep as this.
_TAIL_LINES = 16
_KEY = re.compile(rb'\{"key":"\d+-(\d+)"')


class ReportTooLargeError(ValueError):
    """A report has more bytes or metrics than the platform stores."""


class _Line(NamedTuple):
    """A report without its key."""

    rest: bytes
    is_validation: bool


class Spool:
    """Appends reports to ``<folder>/reports.ndjson``."""

    def __init__(self, folder: Path, node_rank: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.path = folder / REPORTS
        self._node_rank = node_rank
        # The lock is re-entrant: a signal handler may report while the main thread is inside append.
        self._lock = threading.RLock()
        self._fd = self._open()
        # The end of the file after this object's last line; any other size means that another writer appended.
        self._end = -1
        # The counter is only advanced, never replaced: a signal handler inside append thus gets another number.
        self._numbers = itertools.count(1)
        self._depth = 0
        # Records without keys that a full disk did not accept. Some may have been dropped.
        self._waiting: collections.deque[_Line] = collections.deque()
        self._waiting_bytes = 0
        self._lost = 0
        _spools.add(self)

    def append(
        self,
        group: str,
        steps_completed: float,
        metrics: dict[str, Any],
        of_rank: Mapping[str, Any] | None = None,
    ) -> str | None:
        """Writes one report and returns its key; None while the disk is full. The arguments are proto JSON.
        ``of_rank`` has the rank and the aggregation of values that are combined over the ranks.

        Raises ReportTooLargeError, a ValueError, when the report is larger than the limit.
        """
        if len(metrics) > METRIC_NAMES_MAX:
            raise ReportTooLargeError(
                f"the report has {len(metrics):,} metrics; "
                f"at most {METRIC_NAMES_MAX:,} can be stored"
            )
        # Only the chief's report is a validation, as for the metrics service.
        is_validation = group == VALIDATION and (of_rank or {}).get("rank", 0) == 0
        content = {"metrics": metrics, **(of_rank or {})}
        return self._append(group, steps_completed, content, is_validation)

    def append_system(
        self, group: str, steps_completed: float, sample: dict[str, Any]
    ) -> str | None:
        """Writes one report of a machine's load: ``sample`` is a SystemSample as proto JSON."""
        return self._append(group, steps_completed, {"system": sample})

    def _append(
        self, group: str, steps: float, content: dict[str, Any], is_validation: bool = False
    ) -> str | None:
        at_ms = time.time_ns() // 1_000_000
        # Everything except the key is encoded before the lock is taken.
        rest = _values.encode({"group": group, "stepsCompleted": steps, "atMs": at_ms, **content})[
            1:
        ]
        if len(rest) > REPORT_BYTES_MAX:
            raise ReportTooLargeError(
                f"the report has {len(rest):,} bytes as JSON; "
                f"at most {REPORT_BYTES_MAX:,} can be stored"
            )
        with self._lock:
            if self._fd < 0:
                raise RuntimeError("the context is closed: report inside `with trainyard.init()`")
            self._depth += 1
            lock(self._fd)
            try:
                return self._append_or_hold(_Line(rest, is_validation))
            finally:
                self._depth -= 1
                if self._depth == 0:
                    unlock(self._fd)

    def size(self) -> int:
        """The number of bytes that all processes have written."""
        try:
            return os.stat(self.path).st_size
        except FileNotFoundError:
            return 0

    def close(self) -> None:
        """Closes the spool for writing; a second call does nothing."""
        with self._lock:
            if self._fd < 0:
                return
            self._write_held_at_last()
            os.close(self._fd)
            self._fd = -1

    def _open(self) -> int:
        return os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def _append_or_hold(self, line: _Line) -> str | None:
        try:
            if self._waiting:
                self._write_held()
            return self._append_locked(line)
        except OSError as error:
            self._hold(line, error)
            return None

    def _hold(self, line: _Line, error: OSError) -> None:
        """Keeps a report that the disk did not accept; above the limit the oldest are dropped."""
        if not self._waiting:
            message = (
                "%s cannot be written (%s): the latest reports are kept in memory until it can"
            )
            log.warning(message, self.folder, error.strerror or error)
        self._waiting.append(line)
        self._waiting_bytes += len(line.rest)
        while self._waiting_bytes > HELD_REPORT_BYTES_MAX:
            self._waiting_bytes -= len(self._waiting.popleft().rest)
            self._lost += 1

    def _write_held(self) -> None:
        """Writes the kept reports in their order. Raises OSError if the disk still does not accept them."""
        while self._waiting:
            # The report leaves the queue first: a signal handler that reports meanwhile must not write it again.
            line = self._waiting.popleft()
            try:
                self._append_locked(line)
            except OSError:
                self._waiting.appendleft(line)
                raise
            self._waiting_bytes -= len(line.rest)
        lost, self._lost = self._lost, 0
        log.warning("%s can be written again; %d reports were lost", self.folder, lost)

    def _write_held_at_last(self) -> None:
        if not self._waiting:
            return
        lock(self._fd)
        try:
            self._write_held()
        except OSError as error:
            count = len(self._waiting) + self._lost
            log.warning(
                "%s could not be written before the end (%s): %d reports are lost",
                self.folder,
                error,
                count,
            )
        finally:
            unlock(self._fd)

    def _append_locked(self, line: _Line) -> str:
        size = os.fstat(self._fd).st_size
        last, torn = (0, False) if size == self._end else last_number(self._fd, size)
        number = next(self._numbers)
        while number <= last:
            number = next(self._numbers)
        key = f"{self._node_rank}-{number}"
        self._write(b'%s{"key":"%s",%s\n' % (b"\n" if torn else b"", key.encode(), line.rest))
        if line.is_validation:
            self._name_validation(key)
        return key

    def _name_validation(self, key: str) -> None:
        try:
            flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
            fd = os.open(self.folder / LAST_VALIDATION, flags, 0o644)
            try:
                os.write(fd, key.ljust(_NAME_CHARACTERS).encode("ascii") + b"\n")
            finally:
                os.close(fd)
        except OSError as error:
            # The report is in the spool: without its name, a checkpoint may be judged before its value has arrived.
            log.warning("the validation %s could not be named in %s: %s", key, self.folder, error)

    def _write(self, line: bytes) -> None:
        written = os.write(self._fd, line)
        if written < len(line):
            self._write_rest(line, written)
        self._end = os.lseek(self._fd, 0, os.SEEK_CUR)

    def _write_rest(self, line: bytes, written: int) -> None:
        """Writes the rest after a short write, which often precedes a disk error. If the rest fails, removes the
        line.
        """
        start = os.lseek(self._fd, 0, os.SEEK_CUR) - written
        try:
            while written < len(line):
                written += os.write(self._fd, line[written:])
        except OSError:
            os.ftruncate(self._fd, start)
            raise

    def hold(self) -> None:
        """Blocks all writers until ``release``; called before a fork."""
        self._lock.acquire()

    def release(self) -> None:
        """Unblocks the writers."""
        self._lock.release()

    def reset_after_fork(self) -> None:
        """A forked child shares its parent's lock and descriptor, so it must replace them."""
        self._lock = threading.RLock()
        self._depth = 0
        self._end = -1
        # The parent writes the reports in its memory.
        self._waiting.clear()
        self._waiting_bytes = self._lost = 0
        if self._fd >= 0:
            inherited, self._fd = self._fd, -1
            os.close(inherited)
            # If the folder was removed, this spool stays closed in the child; other spools are not affected.
            with contextlib.suppress(OSError):
                self._fd = self._open()


def last_number(fd: int, size: int) -> tuple[int, bool]:
    """The highest n near the end of the file (0 if it is empty), and whether its last line is incomplete."""
    if size == 0:
        return 0, False
    start = max(0, size - TAIL_BYTES)
    lines = os.pread(fd, size - start, start).split(b"\n")
    torn = lines[-1] != b""
    # An incomplete line's number counts if it is readable: only the newline may be missing.
    numbers = (_KEY.match(line) for line in lines[-_TAIL_LINES - 1 :])
    return max((int(found[1]) for found in numbers if found), default=0), torn


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_decoder = json.JSONDecoder(parse_constant=_refuse)


def parse_line(line: bytes) -> dict[str, Any] | None:
    """Parses a line of the spool; None for a line that is not a complete report."""
    try:
        report = _decoder.decode(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return report if isinstance(report, dict) and isinstance(report.get("key"), str) else None


def read_acked(folder: Path) -> int:
    """The offset up to which the metrics service has acknowledged reports; 0 if nothing is recorded."""
    try:
        return max(0, int((folder / ACKED).read_text("ascii")))
    except (FileNotFoundError, ValueError):
        return 0


def last_validation(folder: Path) -> str:
    """The key of the last validation that a process of this node has recorded; empty for none."""
    try:
        return (folder / LAST_VALIDATION).read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


_spools: weakref.WeakSet[Spool] = weakref.WeakSet()
# The spools whose locks the forking thread holds during a fork.
_forking: list[Spool] = []


def _living() -> Iterator[Spool]:
    return iter(list(_spools))


def _before_fork() -> None:
    # The locks are held so that no thread is writing a line while the process is copied.
    for spool in _living():
        spool.hold()
        _forking.append(spool)


def _after_fork_in_parent() -> None:
    while _forking:
        _forking.pop().release()


def _after_fork_in_child() -> None:
    while _forking:
        _forking.pop().reset_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=_after_fork_in_parent,
        after_in_child=_after_fork_in_child,
    )
