"""The files that supervisors write into a run's folder: records and lines (the layout is in state/layout.ts)."""

import errno
import json
import os
import re
import time

SEGMENT_BYTES = 16 * 1024 * 1024
UNSHIPPED_BYTES_MAX = 1024 * 1024 * 1024
DROPPED_CHECK_S = 1.0
THROTTLED_BYTES = 128 * 1024 * 1024
THROTTLED_BYTES_PER_S = 256 * 1024
THROTTLE_CHECK_S = 1.0
LINE_BYTES_MAX = 16 * 1024
RESERVED_BYTES = 4096
STDOUT, STDERR, AGENT = 1, 2, 3
NEWLINE, CARRIAGE_RETURN = b"\n"[0], b"\r"[0]


def now_ms():
    return int(time.time() * 1000)


def is_disk_full(problem):
    return isinstance(problem, OSError) and problem.errno in (errno.ENOSPC, errno.EDQUOT)


def json_bytes(value):
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


def read_record(folder, name):
    """Returns None if the file does not exist or is torn."""
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return json.loads(file.read().decode("utf-8", "replace"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None


def write_record(folder, name, record):
    """Writes a record by a rename. On a full disk it uses the space that was reserved for it, if
    any.
    """
    draft = os.path.join(folder, ".%s.%d.new" % (name, os.getpid()))
    content = json_bytes(record)
    try:
        write_file(draft, content)
        os.rename(draft, os.path.join(folder, name))
    except OSError as problem:
        remove(draft)
        if not is_disk_full(problem) or not write_reserved(folder, name, content):
            raise


def write_file(path, content):
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        write_all(file, content)
    finally:
        os.close(file)


def write_all(file, content):
    written = 0
    while written < len(content):
        written += os.write(file, content[written:])


def write_reserved(folder, name, content):
    path = os.path.join(folder, ".%s.reserved" % name)
    if len(content) > RESERVED_BYTES or not os.path.exists(path):
        return False
    file = os.open(path, os.O_RDWR)
    try:
        os.pwrite(file, content, 0)
        os.ftruncate(file, len(content))
    finally:
        os.close(file)
    os.rename(path, os.path.join(folder, name))
    return True


def remove(path):
    try:
        os.unlink(path)
    except OSError:
        pass  # The file does not exist.


class LineSplitter:
    """Cuts bytes into lines as line-splitter.ts does: at \\n, \\r\\n and \\r, and every 16 KiB.

    Returns (text, continued, rewritten) each.
    """

    def __init__(self):
        self.held = b""
        self.after_return = False

    def push(self, chunk):
        lines = []
        at = 0
        if self.after_return and chunk:
            self.after_return = False
            at = self.cut_at_return(self.take(b""), chunk, 0, lines)
        while at < len(chunk):
            end = next_end(chunk, at)
            if end < 0:
                break
            is_return = chunk[end] == CARRIAGE_RETURN
            if is_return and end + 1 == len(chunk):
                self.after_return = True
                self.hold(chunk[at:end], lines)
                return lines
            whole = self.take(chunk[at:end])
            at = end + 1
            if is_return:
                at = self.cut_at_return(whole, chunk, at, lines)
            else:
                lines.extend(pieces_of(whole, False))
        self.hold(chunk[at:], lines)
        return lines

    def end(self):
        """Returns the text after the last line end."""
        rest = self.take(b"")
        return pieces_of(rest, False) if rest else []

    def cut_at_return(self, whole, chunk, at, lines):
        """Returns the place behind the line end. An empty piece before a lone \\r is no line."""
        is_newline = chunk[at] == NEWLINE
        if whole or is_newline:
            lines.extend(pieces_of(whole, not is_newline))
        return at + 1 if is_newline else at

    def take(self, piece):
        whole, self.held = self.held + piece, b""
        return whole

    def hold(self, piece, lines):
        self.held += piece
        if len(self.held) > LINE_BYTES_MAX:
            *full, (_, _, rest) = cut(self.held)
            lines.extend((text, True, False) for text, _, _ in full)
            self.held = rest


def next_end(chunk, start):
    newline = chunk.find(b"\n", start)
    stop = len(chunk) if newline < 0 else newline
    carriage_return = chunk.find(b"\r", start, stop)
    return carriage_return if carriage_return >= 0 else newline


def pieces_of(whole, rewritten):
    return [(text, continued, rewritten and not continued) for text, continued, _ in cut(whole)]


def cut(rest):
    """(text, whether it continues, its bytes) each; not inside a character: bytes of the form 10xxxxxx continue one."""
    pieces = []
    while len(rest) > LINE_BYTES_MAX:
        end = LINE_BYTES_MAX
        while end > LINE_BYTES_MAX - 4 and rest[end] & 0xC0 == 0x80:
            end -= 1
        pieces.append((text_of(rest[:end]), True, rest[:end]))
        rest = rest[end:]
    pieces.append((text_of(rest), False, rest))
    return pieces


def text_of(content):
    """Characters that no database stores are replaced."""
    return content.decode("utf-8", "replace").replace("\0", "\ufffd")


class Output:
    """Appends lines to files of a bounded size as output-writer.ts does; lines that do not fit on
    the disk are counted.
    """

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, mode=0o700, exist_ok=True)
        first = max(segments_of(folder), default=1)
        self.file = self.open(first)
        with open(segment_path(folder, first), "rb") as file:
            content = file.read()
        # A torn last line is left by a writer that was killed during its write.
        self.bytes = content.rfind(b"\n") + 1
        if self.bytes < len(content):
            os.ftruncate(self.file, self.bytes)
        self.next = first + content.count(b"\n")
        self.dropped = 0
        self.look_again = 0.0

    def open(self, first):
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        return os.open(segment_path(self.folder, first), flags, 0o600)

    def say(self, text):
        self.write(AGENT, [(text, False)])

    def write(self, source, lines):
        if not lines:
            return
        if not self.may_write():
            self.dropped += len(lines)
            return
        if self.dropped > 0:
            text = "%d lines were not kept here: the disk was full, or nobody fetched them"
            if self.append(AGENT, [(text % self.dropped, False)]):
                self.dropped = 0
        if not self.append(source, lines):
            self.dropped += len(lines)

    def append(self, source, lines):
        at_ms = now_ms()
        content = b"".join(
            json_bytes([source, at_ms, text, 1] if continued else [source, at_ms, text])
            for text, continued in lines
        )
        try:
            self.rotate()
            write_all(self.file, content)
        except OSError:
            # The caller counts the line; half a line must not stay.
            self.cut_back()
            return False
        self.bytes += len(content)
        self.next += len(lines)
        return True

    def cut_back(self):
        try:
            if os.fstat(self.file).st_size > self.bytes:
                os.ftruncate(self.file, self.bytes)
        except OSError:
            pass  # The same disk; the next writer or the reader skips what is torn.

    def rotate(self):
        if self.bytes < SEGMENT_BYTES:
            return
        file = self.open(self.next)
        os.close(self.file)
        self.file = file
        self.bytes = 0

    def may_write(self):
        """The total size is checked when a new file begins, and once a second while lines are
        dropped.
        """
        if self.dropped == 0 and self.bytes < SEGMENT_BYTES:
            return True
        now = time.monotonic()
        if self.dropped > 0 and now < self.look_again:
            return False
        self.look_again = now + DROPPED_CHECK_S
        return self.kept_bytes() < UNSHIPPED_BYTES_MAX

    def kept_bytes(self):
        paths = [segment_path(self.folder, first) for first in segments_of(self.folder)]
        return sum(size_of(path) for path in paths)


class Throttle:
    """The rate at which a run's output is read, as in output-throttle.ts."""

    def __init__(self, output):
        self.output = output
        self.since = None
        self.lines = 0
        self.look_again = 0.0

    def pause_s(self, size, lines):
        """Returns the pause after `size` bytes and the lines in them."""
        now = time.monotonic()
        if now >= self.look_again:
            self.look_again = now + THROTTLE_CHECK_S
            self.look(now)
        if self.since is None:
            return 0.0
        self.lines += lines
        return size / THROTTLED_BYTES_PER_S

    def end(self):
        self.say_how_long(time.monotonic(), "")

    def look(self, now):
        size = self.output.kept_bytes()
        if self.since is None and size > THROTTLED_BYTES:
            self.since, self.lines = now, 0
            text = "throttled: %d MiB of this run's output wait for the logs service, "
            text += "so the run's pipes are read at %d KiB/s"
            self.output.say(text % (round(size / 1024 / 1024), THROTTLED_BYTES_PER_S // 1024))
        elif size < THROTTLED_BYTES / 2:
            self.say_how_long(now, ", and is not any more")

    def say_how_long(self, now, rest):
        if self.since is None:
            return
        told = (round(now - self.since), self.lines, rest)
        self.since = None
        self.output.say("this run's output was throttled for %d s, %d lines%s" % told)


def size_of(path):
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0  # The agent removes files meanwhile.


def segment_path(folder, first):
    return os.path.join(folder, "%012d.ndjson" % first)


def segments_of(folder):
    return [int(n[:12]) for n in os.listdir(folder) if re.match(r"[0-9]{12}\.ndjson\Z", n)]


def describe_tmp(folder):
    """Describes the files in a run's own /tmp; empty for none."""
    first, count, size = None, 0, 0
    for place, _, names in os.walk(folder) if folder else ():
        for name in names:
            path = os.path.join(place, name)
            first = first or os.path.join("/tmp", os.path.relpath(path, folder))
            count += 1
            size += os.lstat(path).st_size
    if first is None:
        return ""
    return (
        "the run's own /tmp is removed with %d files of %d bytes, such as %s: "
        "keep what must last in checkpoints or in the storage" % (count, size, first)
    )
