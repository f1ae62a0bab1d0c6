"""The use of a task's terminals and executed programs: how long ago something was typed into them or they wrote."""

import time

import frames


class Use:
    """By the monotonic clock: a changed date neither ends nor keeps a task."""

    def __init__(self):
        self.used_at = None

    def note(self):
        self.used_at = time.monotonic()

    def idle_seconds(self):
        """None if there was no use yet."""
        return None if self.used_at is None else time.monotonic() - self.used_at


class UseReader:
    """A client that reads the use once."""

    def __init__(self, use):
        self.use = use
        self.has_told = False

    def may_read(self):
        return True

    def next_frame(self):
        if self.has_told:
            return None
        self.has_told = True
        return frames.json_frame(frames.USE, idle_seconds=self.use.idle_seconds())

    def is_ending(self):
        return True

    def has_sent(self):
        pass

    def take(self, kind, payload):
        pass

    def leave(self):
        pass
