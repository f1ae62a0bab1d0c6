"""``python -m trainyard.launch.wrap_rank RANK [--] COMMAND…``: runs a command and prefixes each line of its output
with ``[rank=N]``, for scripts with their own launcher.

RANK is a number, or a comma-separated list of environment variables: the first one that is set has the rank. The
exit code is the command's, or 128 plus the signal's number. SIGTERM and SIGINT are passed to the command.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import IO, BinaryIO

from .._limits import LAUNCH_LINE_BYTES
from ._prefix import prefixed

USAGE = "usage: python -m trainyard.launch.wrap_rank RANK [--] COMMAND..."


def main(arguments: list[str]) -> int:
    """Runs a command line and returns its exit code."""
    # Determined's option is skipped: this program redirects both streams in any case.
    words = arguments[1:] if arguments[:1] == ["--no-redirect-stdio"] else list(arguments)
    if len(words) > 1 and words[1] == "--":
        del words[1]
    if len(words) < 2:
        return _refuse("RANK and a command are needed")
    rank = _rank_of(words[0])
    if rank is None:
        return _refuse(f"RANK is {words[0]}: give a number, or a variable that has one")
    try:
        process = subprocess.Popen(words[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        return _refuse(f"{words[1]} cannot be started: {error.strerror}")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda got, _: process.send_signal(got))
    out, err = process.stdout, process.stderr
    assert out is not None and err is not None
    readers = [
        threading.Thread(target=_copy, args=(source, target, rank), daemon=True)
        for source, target in ((out, sys.stdout.buffer), (err, sys.stderr.buffer))
    ]
    for reader in readers:
        reader.start()
    code = process.wait()
    for reader in readers:
        reader.join()
    return code if code >= 0 else 128 - code


def _rank_of(text: str) -> int | None:
    digits = next((os.environ[name] for name in text.split(",") if name in os.environ), text)
    return int(digits) if digits.isdigit() else None


def _copy(source: IO[bytes], target: BinaryIO, rank: int) -> None:
    with source:
        while True:
            line = source.readline(LAUNCH_LINE_BYTES)
            if not line:
                return
            target.write(prefixed(rank, line))
            target.flush()


def _refuse(what: str) -> int:
    print(f"trainyard: {what}\n{USAGE}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
