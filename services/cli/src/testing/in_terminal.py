"""Runs a command in a terminal of 80 x 24, whose keys and output are this program's standard input and output.

SIGUSR1 changes the size to 100 x 30, and SIGUSR2 sends SIGINT to the command. At the end, one line on the error output
says the exit code, and whether the terminal has the settings that it had before.
"""

import fcntl
import json
import os
import select
import signal
import struct
import subprocess
import sys
import termios

master, slave = os.openpty()


def resize(columns, rows):
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def take_terminal():
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


resize(80, 24)
before = termios.tcgetattr(slave)
child = subprocess.Popen(
    sys.argv[1:],
    stdin=slave,
    stdout=slave,
    stderr=slave,
    start_new_session=True,
    preexec_fn=take_terminal,
)
signal.signal(signal.SIGUSR1, lambda *_: resize(100, 30))
signal.signal(signal.SIGTERM, lambda *_: child.terminate())
signal.signal(signal.SIGUSR2, lambda *_: child.send_signal(signal.SIGINT))
sources = [master, 0]
while True:
    ready, _, _ = select.select(sources, [], [], 0.05)
    if 0 in ready:
        keys = os.read(0, 65536)
        if keys:
            os.write(master, keys)
        else:
            sources.remove(0)
    if master in ready:
        os.write(1, os.read(master, 65536))
    elif child.poll() is not None:
        break
print(
    json.dumps({"code": child.returncode, "same": termios.tcgetattr(slave) == before}),
    file=sys.stderr,
)
