"""Free ports for servers that a test starts later."""

import random
import socket

# A launcher also listens on the two ports after its first.
PORTS_OF_A_LAUNCHER = 3

# The ranges of others are avoided, since their ports may be taken before the server listens: embedded clusters use
# ports below 20,000, the scheduler gives runs ports below 22,500, launchers use 30,000 and above, and the system
# assigns higher ones to outgoing connections. Each draw starts at a multiple of three, so that draws of two tests
# never overlap in part.
FIRST_PORTS = range(23_000, 30_000, PORTS_OF_A_LAUNCHER)


def free_port() -> int:
    """Returns a TCP port of 127.0.0.1 that is free, as are the two ports after it.

    Raises OSError if none is found.
    """
    for first in random.SystemRandom().sample(FIRST_PORTS, 100):
        if all(_is_free(first + n) for n in range(PORTS_OF_A_LAUNCHER)):
            return first
    raise OSError(f"no free ports in {FIRST_PORTS}")


def _is_free(port: int) -> bool:
    with socket.socket() as sock:
        try:
            sock.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
