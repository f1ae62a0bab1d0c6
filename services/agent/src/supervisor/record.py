"""The record of a terminal: its output and the sizes that it had, since its last known screen.

A position in the record counts what precedes it: each byte of output is one, and each size is one. A screen is known
at a position where a follower has sent one, and at the start, where it is empty. Viewers that are a little behind
continue from the record, and the others begin with the screen.
"""

import bisect

CHUNK_BYTES = 64 * 1024
# Kept since the screen. Beyond it the screen is forgotten, and the terminal's program has to draw it.
SINCE_SCREEN_MAX = 8 * 1024 * 1024
# Kept before the end for viewers: one that is further behind gets the screen.
BEHIND_MAX = 1024 * 1024
# A viewer starts so far before the end where no screen is known.
TAIL_BYTES = 256 * 1024
# A size takes memory as if it were so many bytes.
SIZE_WEIGHT = 256


class Screen:
    def __init__(self, at, size, content):
        self.at = at
        self.size = size
        self.content = content


class Record:
    def __init__(self, size):
        self.size = size
        self.end = 0
        # None where it is not known.
        self.screen = Screen(0, size, b"")
        # The positions at which the items start: a bytearray of output, or a size (columns, rows).
        self.starts = []
        self.items = []
        self.weight = 0

    def write(self, content):
        last = self.items[-1] if self.items else None
        if isinstance(last, bytearray) and len(last) < CHUNK_BYTES:
            last += content
        else:
            self.starts.append(self.end)
            self.items.append(bytearray(content))
        self.end += len(content)
        self.weight += len(content)
        self.trim()

    def resize(self, size):
        self.size = size
        self.starts.append(self.end)
        self.items.append(size)
        self.end += 1
        self.weight += SIZE_WEIGHT
        self.trim()

    def take_screen(self, at, size, content):
        """Ignores one that is older than the known one, or than what is kept."""
        known = self.start() if self.screen is None else self.screen.at
        if known <= at <= self.end:
            self.screen = Screen(at, size, content)
            self.trim()

    def start(self):
        return self.starts[0] if self.starts else self.end

    def trim(self):
        if self.weight <= BEHIND_MAX:
            return
        if self.weight > SINCE_SCREEN_MAX + BEHIND_MAX:
            self.screen = None
        needed = self.end if self.screen is None else self.screen.at
        count = 0
        for index in range(len(self.items) - 1):
            weight = weight_of(self.items[index])
            if self.starts[index + 1] > needed or self.weight - weight < BEHIND_MAX:
                break
            self.weight -= weight
            count += 1
        del self.starts[:count], self.items[:count]

    def must_skip(self, at):
        """Whether a viewer at this position continues at the screen."""
        if at < self.start():
            return True
        is_behind = self.end - at > BEHIND_MAX
        return is_behind and (self.screen is None or self.screen.at > at)

    def tail(self):
        """The position at which a viewer begins where no screen is known: after the end of a line if there is one."""
        at = max(self.start(), self.end - TAIL_BYTES)
        if at == self.start():
            return at
        index = bisect.bisect_right(self.starts, at) - 1
        item = self.items[index]
        newline = item.find(b"\n", at - self.starts[index]) if isinstance(item, bytearray) else -1
        return at if newline < 0 else self.starts[index] + newline + 1

    def read(self, at):
        """Returns what is at the position, and the position after it: output as bytes, or a size; None at the end."""
        if at >= self.end:
            return None, at
        index = bisect.bisect_right(self.starts, at) - 1
        item = self.items[index]
        if not isinstance(item, bytearray):
            return item, at + 1
        content = bytes(item[at - self.starts[index] :])
        return content, at + len(content)


def weight_of(item):
    return len(item) if isinstance(item, bytearray) else SIZE_WEIGHT
