"""Ports for a server that a test starts a moment later."""

import random
import socket

# A launcher also listens on the two ports above its own.
PORTS_OF_A_LAUNCHER = 3

# Embedded clusters draw theirs below 20,000, the scheduler gives those below 22,500 to runs, launchers take theirs from
# 30,000 on, and a system gives ports above those to outgoing connections: a port of these may be taken before the
# server listens. Draws of two tests never overlap in part, since each begins at a multiple.
FIRST_PORTS = range(23_000, 30_000, PORTS_OF_A_LAUNCHER)


def free_port() -> int:
    """A TCP port of 127.0.0.1 on which nobody listens, nor on the two above it.

    Raises:
        OSError: None was found.
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
