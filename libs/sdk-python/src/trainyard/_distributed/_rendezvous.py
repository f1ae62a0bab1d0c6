"""Where the processes of a run meet, and by what they know each other.

On one host the chief listens on a port of the system's choosing and writes its number into a file
that is this user's alone, or is in the task's folder, so that nothing has to be free. On several
hosts the port has to be known beforehand: the launcher's ``TRAINYARD_CHIEF_PORT``, else two above the
rendezvous port of the task or of torch. The secret is the run's token, which every node of a run has
and nobody else; a launcher outside of a task makes one up; else, on one host, it is drawn once into
another such file.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from .._files import write_by_rename
from ..errors import DistributedError

# The scheduler reserves three ports for a run: torch's own, the launchers', and this.
CHIEF_PORT_OFFSET = 2


class Rendezvous(NamedTuple):
    """How to find the chief."""

    name: str
    """Differs between runs on one host; part of the proof of the secret."""
    secret: bytes
    host: str
    port: int
    """0 where the file names it."""
    port_file: Path | None

    def listens_on(self) -> str:
        """The address for the chief to listen on: only this host's unless others have to come in."""
        return "127.0.0.1" if self.port_file is not None else ""

    def publish(self, port: int) -> None:
        """Says on which port the chief listens."""
        if self.port_file is not None:
            write_by_rename(self.port_file, str(port).encode("ascii"))

    def known_port(self) -> int | None:
        """The chief's port; None while it has not said so."""
        if self.port_file is None:
            return self.port
        try:
            return int(self.port_file.read_bytes())
        except (OSError, ValueError):
            return None

    def retract(self) -> None:
        """Once everyone has come there is nothing more to find."""
        if self.port_file is not None:
            with contextlib.suppress(OSError):
                self.port_file.unlink()


def rendezvous_of(
    env: Mapping[str, str], hosts: int, chief_addr: str | None, chief_port: int | None
) -> Rendezvous:
    """The rendezvous of this environment. Raises DistributedError naming what is missing."""
    host = chief_addr or env.get("MASTER_ADDR") or env.get("TRAINYARD_MASTER_ADDR") or "127.0.0.1"
    secret = _secret(env, hosts)
    if chief_port is None and hosts == 1:
        of_torch, run_dir = env.get("MASTER_PORT"), env.get("TRAINYARD_RUN_DIR")
        if not of_torch and run_dir:
            # A task whose script has a launcher of its own.
            Path(run_dir).mkdir(parents=True, exist_ok=True)
            return Rendezvous(run_dir, secret, "127.0.0.1", 0, Path(run_dir) / "chief.port")
        if not of_torch:
            raise DistributedError(
                "DistributedContext needs chief_port= where MASTER_PORT is not set: "
                "a free port, the same on every rank"
            )
        name = f"port-{of_torch}"
        return Rendezvous(name, secret, "127.0.0.1", 0, _own_folder(env) / f"{name}.chief")
    port = chief_port if chief_port is not None else _port(env)
    return Rendezvous(f"chief-{port}", secret, host, port, None)


def _port(env: Mapping[str, str]) -> int:
    port = env.get("TRAINYARD_CHIEF_PORT")
    if port:
        return _whole("TRAINYARD_CHIEF_PORT", port)
    for name in ("TRAINYARD_MASTER_PORT", "MASTER_PORT"):
        if env.get(name):
            return _whole(name, env[name]) + CHIEF_PORT_OFFSET
    raise DistributedError(
        "DistributedContext needs chief_port= on several hosts where neither TRAINYARD_MASTER_PORT "
        "nor MASTER_PORT is set: a free port of the chief's host, the same on every rank"
    )


def _whole(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise DistributedError(f"{name} must be a port's number, not {text!r}") from None


def _secret(env: Mapping[str, str], hosts: int) -> bytes:
    secret = env.get("TRAINYARD_DISTRIBUTED_SECRET") or env.get("TRAINYARD_TOKEN")
    if secret:
        return secret.encode("utf-8")
    if hosts > 1:
        raise DistributedError(
            "DistributedContext needs a secret on several hosts: set TRAINYARD_DISTRIBUTED_SECRET "
            "to the same random text on each, or start with python -m trainyard.launch.torch"
        )
    path = _own_folder(env) / "secret"
    # Linked into place whole: of several that draw one at the same time the first one's wins.
    draft = path.with_name(f".secret.{os.getpid()}")
    if not path.exists():
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.write(descriptor, os.urandom(32))
            with contextlib.suppress(FileExistsError):
                os.link(draft, path)
        finally:
            os.close(descriptor)
            os.unlink(draft)
    return path.read_bytes()


def _own_folder(env: Mapping[str, str]) -> Path:
    """A folder that nobody but this user can read or write."""
    folder = Path(env.get("TMPDIR") or "/tmp", f"trainyard-{os.getuid()}")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise DistributedError(
            f"{folder} must be a folder of this user's alone: remove it or set TMPDIR"
        )
    return folder
