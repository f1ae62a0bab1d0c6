"""A program that a client executes beside the task's command: its streams are apart, and it waits for its client."""

import os
import signal

import frames
from loop import READ, WRITE
from spawning import end_of, set_size, signal_group, signal_of, size_in, spawn, spawn_in_terminal
from terminal import END_OF_INPUT

READ_BYTES = 64 * 1024
INPUT_BYTES_MAX = 64 * 1024
# After the program's end its output is read so long: a process that it left may hold it open.
REST_S = 0.5


class Execution:
    def __init__(self, loop, connection, program, size, use):
        """`size` is that of the program's terminal; None for none. Raises OSError if it cannot be started."""
        self.loop = loop
        self.connection = connection
        self.size = size
        self.use = use
        # Descriptors to the types of the frames that their content gets.
        self.outputs = {}
        self.typed = bytearray()
        self.is_input_over = False
        self.status = None
        self.is_given_up = False
        self.has_told_end = False
        columns, rows = size or (0, 0)
        self.ready_frames = [frames.json_frame(frames.OPENED, name="", columns=columns, rows=rows)]
        if size is None:
            self.start_with_pipes(program)
        else:
            self.pid, self.input = spawn_in_terminal(program, *size)
            self.outputs[self.input] = frames.OUTPUT
        self.look()

    def start_with_pipes(self, program):
        inside, self.input = os.pipe()
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        try:
            self.pid = spawn(program, (inside, out_end, err_end))
        except OSError:
            for end in (self.input, out, err):
                os.close(end)
            raise
        finally:
            for end in (inside, out_end, err_end):
                os.close(end)
        self.outputs = {out: frames.OUTPUT, err: frames.ERROR_OUTPUT}
        for end in (self.input, out, err):
            os.set_blocking(end, False)

    def may_read(self):
        return len(self.typed) < INPUT_BYTES_MAX

    def look(self):
        """The output is read once the client has taken what was read before."""
        reads = READ if not self.ready_frames else 0
        for output in self.outputs:
            writes = WRITE if output == self.input and self.typed else 0
            self.loop.watch(
                output, reads | writes, lambda events, of=output: self.ready(of, events)
            )
        if self.input is not None and self.input not in self.outputs:
            writes = WRITE if self.typed else 0
            self.loop.watch(self.input, writes, lambda events: self.ready(None, events))

    def ready(self, output, events):
        if events & WRITE:
            self.write_typed()
        if events & READ:
            self.read(output)
        self.connection.pump()
        self.look()

    def read(self, output):
        try:
            content = os.read(output, READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            content = b""  # EIO: no process has the terminal open.
        if content:
            self.use.note()
            self.ready_frames.append(frames.frame(self.outputs[output], content))
        else:
            self.close(output)

    def close(self, output):
        self.loop.watch(output, 0, None)
        self.outputs.pop(output, None)
        if output == self.input:
            self.input = None
        os.close(output)

    def next_frame(self):
        if self.ready_frames:
            frame = self.ready_frames.pop(0)
            self.look()
            return frame
        if self.status is None or (self.outputs and not self.is_given_up):
            return b""
        if self.has_told_end:
            return None
        self.has_told_end = True
        return frames.json_frame(frames.ENDED, **end_of(self.status))

    def is_ending(self):
        return self.status is not None

    def has_sent(self):
        pass

    def take(self, kind, payload):
        if kind == frames.INPUT:
            self.type(payload)
        elif kind == frames.END_OF_INPUT:
            if self.size is not None:
                self.type(END_OF_INPUT)
            else:
                self.is_input_over = True
                self.write_typed()
        elif kind == frames.SIZE and self.size is not None:
            self.size = size_in(frames.object_in(payload), *self.size)
            if self.input is not None:
                set_size(self.input, *self.size)
        elif kind == frames.SIGNAL:
            self.signal(signal_of(frames.object_in(payload).get("signal")))

    def signal(self, number):
        if number is None:
            raise frames.BadFrame("there is no signal of this name")
        if self.status is None:
            signal_group(self.pid, number)

    def type(self, content):
        if self.input is not None and not self.is_input_over:
            self.use.note()
            self.typed += content
            self.write_typed()

    def write_typed(self):
        if self.input is None:
            return
        try:
            written = os.write(self.input, self.typed) if self.typed else 0
        except BlockingIOError:
            written = 0
        except OSError:
            written = len(self.typed)  # The program does not read it any more.
        del self.typed[:written]
        if self.is_input_over and not self.typed and self.size is None:
            self.close(self.input)
        self.look()
        self.connection.resume()

    def ended(self, status):
        self.status = status
        self.loop.later(REST_S, self.give_up_rest)
        self.connection.pump()

    def give_up_rest(self):
        """The program's own output was in its pipes at its end. A client that reads slowly gets all of it."""
        if self.connection.is_closed:
            return
        if not self.ready_frames:
            for output in list(self.outputs):
                self.read(output)
        if self.ready_frames:
            self.connection.pump()
            self.loop.later(REST_S, self.give_up_rest)
            return
        self.is_given_up = True
        self.connection.pump()

    def leave(self):
        """The client is gone."""
        self.ready_frames.clear()
        for output in list(self.outputs):
            self.close(output)
        if self.input is not None:
            self.close(self.input)
        if self.status is None:
            signal_group(self.pid, signal.SIGHUP)
