"""A client's connection to the holder: reads its frames, and sends it frames as far as it reads."""

import socket

import frames
from loop import READ, WRITE

READ_BYTES = 64 * 1024
# More is made for a client only when it has read this.
OUTGOING_BYTES = 64 * 1024
# A turn of the loop sends one client so much, so that none keeps the others waiting.
PUMPED_BYTES = 1024 * 1024
HELLO_S = 10.0
# A client that has the last frame gets so long to close. Closed before it writes, it would lose what it has not read.
LINGER_S = 1.0


class Connection:
    """`role` makes the frames: `next_frame()` gives the next one, b"" while there is none, None after the last."""

    def __init__(self, loop, client, on_hello, on_close):
        self.loop = loop
        self.client = client
        self.on_hello = on_hello
        self.on_close = on_close
        self.decoder = frames.Decoder()
        self.outgoing = bytearray()
        self.role = None
        self.is_closing = False
        # All is sent, and the client has not closed yet.
        self.is_lingering = False
        self.is_closed = False
        client.setblocking(False)
        self.look()
        loop.later(HELLO_S, self.give_up_hello)

    def give_up_hello(self):
        if self.role is None:
            self.close()

    def look(self):
        if self.is_closed:
            return
        may_read = self.is_closing or self.role is None or self.role.may_read()
        events = (READ if may_read else 0) | (WRITE if self.outgoing else 0)
        self.loop.watch(self.client.fileno(), events, self.ready)

    def ready(self, events):
        if events & WRITE:
            self.pump()
        if events & READ and not self.is_closed:
            self.read()

    def read(self):
        try:
            chunk = self.client.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            chunk = b""
        if not chunk:
            self.close()
            return
        if self.is_closing:
            return
        try:
            for kind, payload in self.decoder.push(chunk):
                self.take(kind, payload)
        except frames.BadFrame as problem:
            self.refuse("bad_request", str(problem))
        except Exception as problem:
            # An error that one client causes must not end the task.
            self.refuse("internal", "%s: %s" % (type(problem).__name__, problem))
        self.look()

    def take(self, kind, payload):
        if self.is_closing:
            return
        if self.role is not None:
            self.role.take(kind, payload)
        elif kind == frames.HELLO:
            self.on_hello(self, frames.object_in(payload))
        else:
            raise frames.BadFrame("the first frame is no hello")

    def begin(self, role):
        self.role = role
        self.pump()

    def resume(self):
        self.look()

    def refuse(self, code, detail):
        self.say(frames.json_frame(frames.REFUSED, code=code, detail=detail))
        self.close_when_sent()

    def say(self, frame):
        """Sends a frame beside those of the role."""
        if not self.is_closed and not self.is_closing:
            self.outgoing += frame
            self.pump()

    def close_when_sent(self):
        if not self.is_closed:
            self.is_closing = True
            self.pump()

    def pump(self):
        """Sends what the client takes now."""
        left = PUMPED_BYTES
        while not self.is_closed and left > 0:
            self.fill()
            if not self.outgoing:
                break
            sent = self.send()
            if sent == 0:
                break
            left -= sent
        if not self.is_closed:
            # Where the turn is over, the rest is sent in the next one.
            self.fill()
        if self.is_closing and not self.outgoing:
            self.linger()
        self.look()

    def linger(self):
        if self.is_lingering or self.is_closed:
            return
        self.is_lingering = True
        try:
            self.client.shutdown(socket.SHUT_WR)
        except OSError:
            self.close()
            return
        self.loop.later(LINGER_S, self.close)

    def fill(self):
        while self.role is not None and not self.is_closing and len(self.outgoing) < OUTGOING_BYTES:
            frame = self.role.next_frame()
            if frame is None:
                self.is_closing = True
            if not frame:
                return
            self.outgoing += frame

    def send(self):
        try:
            sent = self.client.send(self.outgoing[:PUMPED_BYTES])
        except BlockingIOError:
            return 0
        except OSError:
            self.close()
            return 0
        del self.outgoing[:sent]
        if self.role is not None:
            self.role.has_sent()
        return sent

    def close(self):
        if self.is_closed:
            return
        self.loop.watch(self.client.fileno(), 0, None)
        self.is_closed = True
        self.client.close()
        if self.role is not None:
            self.role.leave()
        self.on_close(self)
