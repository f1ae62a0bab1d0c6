"""A terminal of a task: a program in a PTY, what it has written, and the viewers that see it. It does not need them."""

import os
import signal
import time

from loop import READ, WRITE
from record import Record
from spawning import foreground_of, set_size, signal_group, spawn_in_terminal

READ_BYTES = 64 * 1024
# Typed ahead of a program that does not read. Beyond it the viewer who types is not read either.
INPUT_BYTES_MAX = 64 * 1024
# The agent, which follows the screen, may be so far behind before the program waits for it, so that the screen stays
# known. An agent that reads nothing for this time is not waited for.
FOLLOWED_BEHIND_MAX = 4 * 1024 * 1024
FOLLOWER_WAIT_S = 1.0
LOOK_AGAIN_S = 0.02
# For this time the terminal has another size, so that a full-screen program sees the change.
REDRAW_S = 0.25
# After the program's end its terminal is read so long: a process that it left may hold it open.
REST_S = 0.5
# Output so soon after a change of size is the screen again, as for a viewer that reconnects.
REDRAWING_S = 1.0
END_OF_INPUT = b"\x04"


class Terminal:
    def __init__(self, loop, name, size, use, on_end):
        self.loop = loop
        self.name = name
        self.record = Record(size)
        self.use = use
        self.on_end = on_end
        self.pid = 0
        # The descriptor of the PTY's master; -1 once it is closed.
        self.master = -1
        self.typed = bytearray()
        self.viewers = []
        # The viewer who typed or resized last.
        self.active = None
        self.status = None
        self.is_over = False
        self.is_redrawn = False
        self.looks_again = False
        self.resized_at = None
        # The process groups that were asked to end.
        self.asked = set()

    def start(self, program):
        """Raises OSError if the program cannot be started."""
        self.pid, self.master = spawn_in_terminal(program, *self.record.size)
        self.look()

    def look(self):
        """Watches the terminal as far as it may be read and has something to be written."""
        if self.master < 0:
            return
        is_held_up = self.is_held_up()
        events = (0 if is_held_up else READ) | (WRITE if self.typed else 0)
        self.loop.watch(self.master, events, self.ready)
        if is_held_up and not self.looks_again:
            self.looks_again = True
            self.loop.later(LOOK_AGAIN_S, self.look_again)

    def look_again(self):
        self.looks_again = False
        self.look()

    def is_held_up(self):
        now = time.monotonic()
        return any(
            one.is_follower
            and self.record.end - one.at > FOLLOWED_BEHIND_MAX
            and now - one.progressed_at < FOLLOWER_WAIT_S
            for one in self.viewers
        )

    def ready(self, events):
        if events & WRITE:
            self.write_typed()
        if events & READ and self.master >= 0:
            self.read()
        self.look()

    def read(self):
        content = bytearray()
        is_closed = False
        while len(content) < READ_BYTES:
            try:
                piece = os.read(self.master, READ_BYTES)
            except BlockingIOError:
                break
            except OSError:
                piece = b""  # EIO: no process has the terminal open.
            if not piece:
                is_closed = True
                break
            content += piece
        if content:
            if not self.is_drawn_again():
                self.use.note()
            self.record.write(content)
            self.tell_viewers()
        if is_closed:
            self.close()

    def is_drawn_again(self):
        return self.resized_at is not None and time.monotonic() - self.resized_at < REDRAWING_S

    def close(self):
        self.loop.watch(self.master, 0, None)
        os.close(self.master)
        self.master = -1
        self.finish()

    def tell_viewers(self):
        for viewer in list(self.viewers):
            viewer.connection.pump()

    def type(self, content):
        if self.master >= 0:
            self.use.note()
            self.typed += content
            self.write_typed()
            self.look()

    def write_typed(self):
        try:
            written = os.write(self.master, self.typed)
        except BlockingIOError:
            return
        except OSError:
            written = len(self.typed)  # No program reads it any more.
        del self.typed[:written]
        if not self.is_full():
            for viewer in self.viewers:
                viewer.connection.resume()

    def is_full(self):
        return len(self.typed) >= INPUT_BYTES_MAX

    def resize(self, size):
        if self.master < 0 or size == self.record.size:
            return
        self.resized_at = time.monotonic()
        set_size(self.master, *size)
        self.record.resize(size)
        self.tell_viewers()

    def ask_to_redraw(self):
        """Changes the size for a moment: a full-screen program then draws all of its screen."""
        if self.is_redrawn or self.master < 0:
            return
        self.is_redrawn = True
        columns, rows = before = self.record.size
        self.resize((columns, rows - 1 if rows > 1 else 2))
        self.loop.later(REDRAW_S, lambda: self.redrawn(before))

    def redrawn(self, before):
        self.is_redrawn = False
        # A viewer's size is the later one.
        if abs(self.record.size[1] - before[1]) == 1 and self.record.size[0] == before[0]:
            self.resize(before)

    def enter(self, viewer):
        others = [one for one in self.viewers if not one.is_follower]
        self.viewers.append(viewer)
        if not viewer.is_follower and not others:
            self.act(viewer)

    def act(self, viewer):
        """The terminal gets the size of the viewer who types or resizes."""
        self.active = viewer
        self.resize(viewer.size)

    def leave(self, viewer):
        if viewer in self.viewers:
            self.viewers.remove(viewer)
        if self.active is viewer:
            self.active = None
        self.look()

    def signal(self, number):
        """Signals the processes in the foreground."""
        group = None if self.master < 0 else foreground_of(self.master)
        if group is not None:
            signal_group(group, number)

    def hang_up(self):
        """Ends a shell at its prompt, which ignores SIGTERM; asks another program in the foreground to end, once."""
        group = None if self.master < 0 else foreground_of(self.master)
        if group is None or group in self.asked:
            return
        self.asked.add(group)
        signal_group(group, signal.SIGTERM)
        if group == self.pid:
            signal_group(group, signal.SIGHUP)
            signal_group(group, signal.SIGCONT)

    def ended(self, status):
        self.status = status
        if self.master < 0:
            self.finish()
        else:
            self.loop.later(REST_S, self.give_up_rest)

    def give_up_rest(self):
        if self.master >= 0:
            self.read()
        if self.master >= 0:
            self.close()

    def finish(self):
        """The terminal is over when its program has ended and its output is read."""
        if self.status is None or self.master >= 0 or self.is_over:
            return
        self.is_over = True
        self.on_end(self)
        self.tell_viewers()
