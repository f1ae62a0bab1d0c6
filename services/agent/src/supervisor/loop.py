"""The one loop of a task's holder: descriptors, timers and signals, each with what is called for it."""

import heapq
import os
import selectors
import signal
import time

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


class Loop:
    def __init__(self):
        self.selector = selectors.DefaultSelector()
        self.timers = []
        self.timers_made = 0
        self.caught = []
        woken, wake = os.pipe()
        for end in (woken, wake):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake)
        self.woken = woken
        self.watch(woken, READ, self.wake_up)

    def watch(self, descriptor, events, act):
        """Calls `act(events)` while the descriptor is ready; events 0 end that."""
        key = self.selector.get_map().get(descriptor)
        if key is None:
            if events:
                self.selector.register(descriptor, events, act)
        elif events == 0:
            self.selector.unregister(descriptor)
        elif key.events != events or key.data != act:
            self.selector.modify(descriptor, events, act)

    def later(self, delay_s, act):
        self.timers_made += 1
        heapq.heappush(self.timers, (time.monotonic() + delay_s, self.timers_made, act))

    def on_signal(self, number, act):
        """Calls `act(number)` in the loop, and not in the middle of something else."""
        signal.signal(number, lambda *_: self.caught.append((number, act)))

    def wake_up(self, _):
        try:
            os.read(self.woken, 4096)
        except BlockingIOError:
            pass  # Another turn has read it.

    def turn(self, wait_s):
        """Waits at most so long for something to do, and does it."""
        if self.timers:
            wait_s = min(wait_s, self.timers[0][0] - time.monotonic())
        for key, events in self.selector.select(max(0.0, wait_s)):
            # An earlier call of this turn may have ended the watch of this descriptor.
            if self.selector.get_map().get(key.fd) is key:
                key.data(events)
        caught, self.caught = self.caught, []
        for number, act in caught:
            act(number)
        while self.timers and self.timers[0][0] <= time.monotonic():
            heapq.heappop(self.timers)[2]()
