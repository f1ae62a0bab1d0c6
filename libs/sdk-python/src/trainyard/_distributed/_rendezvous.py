"""The address at which the processes of a run meet, and the secret that authenticates them.

On one host the chief listens on a free port and writes its number into a file in the task's folder, or in a folder
that only this user can read. On several hosts the port is fixed in advance: the launcher's
``TRAINYARD_CHIEF_PORT``, else two above the rendezvous port of the task or of torch. The secret is the run's
token, which only the run's nodes have. Outside of a task the launcher generates a secret; without a launcher, on
one host, a secret is generated once into a file that only this user can read.
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

# The scheduler reserves three ports for a run: one for torch, one for the launchers, and this one.
CHIEF_PORT_OFFSET = 2


class Rendezvous(NamedTuple):
    """The chief's address and the run's secret."""

    name: str
    """The rendezvous' name: different for each run on a host, and part of the proof of the secret."""
    secret: bytes
    host: str
    port: int
    """The chief's port; 0 if the port file has it."""
    port_file: Path | None

    def listens_on(self) -> str:
        """The address for the chief to listen on: only the local one if all processes are on this host."""
        return "127.0.0.1" if self.port_file is not None else ""

    def publish(self, port: int) -> None:
        """Writes the chief's port to the port file."""
        if self.port_file is not None:
            write_by_rename(self.port_file, str(port).encode("ascii"))

    def known_port(self) -> int | None:
        """The chief's port; None until the chief has published it."""
        if self.port_file is None:
            return self.port
        try:
            return int(self.port_file.read_bytes())
        except (OSError, ValueError):
            return None

    def retract(self) -> None:
        """Removes the port file, once all processes have joined."""
        if self.port_file is not None:
            with contextlib.suppress(OSError):
                self.port_file.unlink()


def rendezvous_of(
    env: Mapping[str, str], hosts: int, chief_addr: str | None, chief_port: int | None
) -> Rendezvous:
    """Returns the rendezvous of this environment. Raises DistributedError with the missing variable."""
    host = chief_addr or env.get("MASTER_ADDR") or env.get("TRAINYARD_MASTER_ADDR") or "127.0.0.1"
    secret = _secret(env, hosts)
    if chief_port is None and hosts == 1:
        of_torch, run_dir = env.get("MASTER_PORT"), env.get("TRAINYARD_RUN_DIR")
        if not of_torch and run_dir:
            # The environment of a task whose script starts its processes itself.
            Path(run_dir).mkdir(parents=True, exist_ok=True)
            return Rendezvous(run_dir, secret, "127.0.0.1", 0, Path(run_dir) / "chief.port")
        if not of_torch:
            raise DistributedError(
                "DistributedContext needs chief_port= if MASTER_PORT is not set: "
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
    # The complete file is linked into place: if several processes generate a secret at once, the first one wins.
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
    """Returns a folder that only this user can read or write."""
    folder = Path(env.get("TMPDIR") or "/tmp", f"trainyard-{os.getuid()}")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise DistributedError(
            f"{folder} must be a folder of this user's alone: remove it or set TMPDIR"
        )
    return folder
