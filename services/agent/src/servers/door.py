"""The door of a page's server: the secret of its gateway, and the times of the requests that came in.

Durations are of the monotonic clock, so that a changed date neither ends nor keeps a task.
"""

import hmac
import threading
import time

SECRET_HEADER = "X-Trainyard-Task-Secret"
USE_PATH = "/trainyard/use"
WRITES = ("PUT", "POST", "PATCH", "DELETE")


class Door:
    def __init__(self, secret):
        self.secret = secret.encode("utf-8")
        self.lock = threading.Lock()
        self.open_requests = 0
        self.request_at = None
        self.write_at = None

    def admits(self, secret):
        given = (secret or "").encode("utf-8", "surrogateescape")
        return bool(self.secret) and hmac.compare_digest(given, self.secret)

    def began(self, method):
        """Notes a request of a person. The agent's own, about the use, are not noted."""
        with self.lock:
            self.open_requests += 1
            self.note(method)

    def ended(self, method):
        with self.lock:
            self.open_requests -= 1
            self.note(method)

    def note(self, method):
        self.request_at = time.monotonic()
        if method in WRITES:
            self.write_at = self.request_at

    def use(self, kernels=(), terminals=()):
        """Returns the document for the agent."""
        with self.lock:
            request = 0 if self.open_requests > 0 else since(self.request_at)
            write = since(self.write_at)
        return {
            "kernels": list(kernels),
            "terminals": list(terminals),
            "write_seconds": write,
            "request_seconds": request,
        }


def since(moment):
    """The seconds since a moment; None if it never was."""
    return None if moment is None else time.monotonic() - moment
