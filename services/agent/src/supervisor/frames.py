"""The frames of the protocol between a task's holder and its clients (docs/integrate/terminals.md)."""

import json
import struct

HELLO, INPUT, SIZE, END_OF_INPUT, SIGNAL, FOLLOWED_SCREEN = range(6)
OPENED, OUTPUT, ERROR_OUTPUT, SIZED, ENDED, NOTICE, REFUSED, SCREEN, TERMINALS, USE = range(16, 26)

FRAME_BYTES_MAX = 1024 * 1024
HEADER = struct.Struct(">BI")


class BadFrame(Exception):
    """A sentence about what a client has sent."""


def frame(kind, payload=b""):
    return HEADER.pack(kind, len(payload)) + payload


def json_frame(kind, **value):
    return frame(kind, json.dumps(value).encode("ascii"))


def text_frame(kind, text):
    return frame(kind, text.encode("utf-8", "replace"))


def object_in(payload):
    try:
        value = json.loads(payload.decode("utf-8"))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise BadFrame("a frame has no JSON object where it must have one")
    return value


class Decoder:
    """Makes frames, (type, payload) each, of the chunks of a stream."""

    def __init__(self):
        self.held = bytearray()

    def push(self, chunk):
        self.held += chunk
        frames = []
        at = 0
        while len(self.held) - at >= HEADER.size:
            kind, length = HEADER.unpack_from(self.held, at)
            if length > FRAME_BYTES_MAX:
                text = "a frame has %d bytes, and may have %d"
                raise BadFrame(text % (length, FRAME_BYTES_MAX))
            end = at + HEADER.size + length
            if len(self.held) < end:
                break
            frames.append((kind, bytes(self.held[at + HEADER.size : end])))
            at = end
        del self.held[:at]
        return frames
