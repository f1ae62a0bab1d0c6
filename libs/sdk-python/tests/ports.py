"""A port for a server that a test starts a moment later."""

import random
import socket

# Below the ports that runs and launchers take, and those that a system gives to outgoing connections: one of these may
# be taken before the server listens.
RANGE = range(12_000, 20_000)


def free_port() -> int:
    """A TCP port of 127.0.0.1 on which nobody listens.

    Raises:
        OSError: None was found.
    """
    for port in random.SystemRandom().sample(RANGE, 100):
        with socket.socket() as sock:
            try:
                sock.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError(f"no free port in {RANGE}")
