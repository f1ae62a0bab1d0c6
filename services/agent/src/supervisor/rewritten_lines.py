"""Keeps the last state of a line that is rewritten, as by a progress bar, as rewritten-lines.ts does."""

import re

STATE_GAP_S = 10.0
RANK_PREFIX = re.compile(r"\A\[rank=[0-9]{1,9}\] ")
CODES = re.compile("\x1b\\[[0-9;]{0,16}[A-Za-z]")
MOVES_UP = re.compile("\x1b\\[[0-9]{0,4}A\\Z")
# The characters that JavaScript's trim() removes.
SPACES = (
    "\t\n\v\f\r \xa0\u1680"
    + "".join(map(chr, range(0x2000, 0x200B)))
    + "\u2028\u2029\u202f\u205f\u3000\ufeff"
)


class RewrittenLines:
    """Takes (text, whether it continues, whether a lone \\r ended it) each, and returns the first two."""

    def __init__(self):
        # The latest state that is not stored, and the time of the last stored one or of the line's beginning.
        self.held = None
        self.since = None
        self.is_in_long_line = False

    def push(self, lines, now):
        stored = []
        for text, continued, rewritten in lines:
            is_state = (rewritten or moves_up(text)) and not self.is_in_long_line
            self.is_in_long_line = continued
            if is_state and not continued:
                self.held = None if is_blank(text) else text
                self.since = now if self.since is None else self.since
                stored += self.due(now)
            else:
                stored += self.end_before(text)
                stored.append((text, continued))
        return stored

    def due(self, now):
        """Returns the latest state if it is time to store it."""
        if self.held is None or now - self.since < STATE_GAP_S:
            return []
        self.since = now
        return self.end()

    def end(self):
        """Returns the last state, if it is not stored."""
        held, self.held = self.held, None
        return [] if held is None else [(held, False)]

    def end_before(self, text):
        if self.held is None:
            return []
        self.since = None
        is_replaced = not is_blank(text) and label_of(text) == label_of(self.held)
        held = self.end()
        return [] if is_replaced else held


def moves_up(text):
    return text.endswith("A") and MOVES_UP.search(text[-7:]) is not None


def shown_of(text):
    return CODES.sub("", RANK_PREFIX.sub("", text)).strip(SPACES)


def is_blank(text):
    return shown_of(text) == ""


def label_of(text):
    return re.split("[0-9]", shown_of(text), maxsplit=1)[0].strip(SPACES)
