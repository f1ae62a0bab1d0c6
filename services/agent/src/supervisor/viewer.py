"""The clients of terminals: viewers, the follower that knows the screen, and those that watch which terminals exist."""

import json
import time

import frames
from spawning import end_of, signal_of, size_in
from terminal import END_OF_INPUT


class Viewer:
    """Sees a terminal and types into it. It is at a position of the terminal's record, and never waited for."""

    is_follower = False

    def __init__(self, connection, terminal, size):
        self.connection = connection
        self.terminal = terminal
        self.size = size
        # Before the first screen.
        self.at = -1
        # The frames that the client gets before the record continues.
        self.ahead = [opened(terminal)]
        self.has_told_end = False
        self.progressed_at = time.monotonic()
        terminal.enter(self)

    def may_read(self):
        return not self.terminal.is_full()

    def next_frame(self):
        if self.ahead:
            return self.ahead.pop(0)
        record = self.terminal.record
        if self.at < 0 or record.must_skip(self.at):
            return self.show_screen(record)
        item, self.at = record.read(self.at)
        if isinstance(item, bytes):
            return frames.frame(frames.OUTPUT, item)
        if item is not None:
            return sized(item, self.at)
        return self.last_frame()

    def show_screen(self, record):
        screen = record.screen
        if screen is None:
            # The change of size makes frames for this viewer too, so it comes after these.
            self.terminal.loop.later(0, self.terminal.ask_to_redraw)
            self.at = record.tail()
            self.ahead.append(frames.frame(frames.SCREEN))
            return sized(record.size, self.at)
        self.at = screen.at
        self.ahead.append(frames.frame(frames.SCREEN, screen.content))
        return sized(screen.size, self.at)

    def last_frame(self):
        if not self.terminal.is_over:
            return b""
        if self.has_told_end:
            return None
        self.has_told_end = True
        return frames.json_frame(frames.ENDED, **end_of(self.terminal.status))

    def is_ending(self):
        return self.terminal.is_over

    def has_sent(self):
        self.progressed_at = time.monotonic()

    def take(self, kind, payload):
        terminal = self.terminal
        if kind == frames.INPUT:
            self.act()
            terminal.type(payload)
        elif kind == frames.SIZE:
            self.size = size_in(frames.object_in(payload), *self.size)
            terminal.act(self)
        elif kind == frames.END_OF_INPUT:
            self.act()
            terminal.type(END_OF_INPUT)
        elif kind == frames.SIGNAL:
            number = signal_of(frames.object_in(payload).get("signal"))
            if number is None:
                raise frames.BadFrame("there is no signal of this name")
            terminal.signal(number)

    def act(self):
        if self.terminal.active is not self:
            self.terminal.act(self)

    def leave(self):
        self.terminal.leave(self)


class Follower(Viewer):
    """Answers with the terminal's screens. It neither types nor has a size."""

    is_follower = True

    def may_read(self):
        return True

    def take(self, kind, payload):
        if kind != frames.FOLLOWED_SCREEN:
            return
        head, _, content = payload.partition(b"\n")
        at = frames.object_in(head)
        if not isinstance(at.get("offset"), int):
            raise frames.BadFrame("a screen has no offset")
        self.terminal.record.take_screen(at["offset"], size_in(at), content)


class Watcher:
    """Reads the names of the terminals at each change."""

    def __init__(self, connection, names):
        self.connection = connection
        self.names = names
        self.told = None

    def may_read(self):
        return True

    def next_frame(self):
        names = self.names()
        if names == self.told:
            return b""
        self.told = names
        return frames.frame(frames.TERMINALS, json.dumps({"names": names}).encode("ascii"))

    def is_ending(self):
        return False

    def has_sent(self):
        pass

    def take(self, kind, payload):
        pass

    def leave(self):
        pass


def opened(terminal):
    columns, rows = terminal.record.size
    return frames.json_frame(frames.OPENED, name=terminal.name, columns=columns, rows=rows)


def sized(size, at):
    columns, rows = size
    return frames.json_frame(frames.SIZED, columns=columns, rows=rows, offset=at)
