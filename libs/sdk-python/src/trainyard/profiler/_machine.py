"""The sources of samples on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Callable

from ._gpus import gpus_here
from ._sources import Counted, Cpu, Disk, Memory, Network, Source
from ._throughput import Throughput

PROC = Path("/proc")


def sources_here(throughput: Throughput, proc: Path = PROC) -> tuple[list[Source], list[str]]:
    """Returns the sources of this machine, and the groups for which it has none."""
    sources: list[Source] = []
    missing: list[str] = []
    kinds: list[Callable[[Path], Source]] = [Cpu, Memory, Disk, Network]
    for kind in kinds:
        source = kind(proc)
        try:
            source.read(0.0)
            sources.append(source)
        except (OSError, ValueError, IndexError):
            missing.append(source.group)
    # A machine without GPUs causes no warning.
    return [*sources, Counted(throughput), *gpus_here()], missing
