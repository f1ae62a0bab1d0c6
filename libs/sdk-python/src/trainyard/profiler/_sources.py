"""The sources of samples: the files under ``/proc``, and the training loop.

A read of a source returns its group, the device (empty if the machine has only one) and the current values. Rates
cover the time since the previous read; the first read has none. Names end in the unit.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from ._throughput import Throughput

Reading = tuple[str, str, dict[str, float]]

# The sector size of /proc/diskstats, which does not depend on the disk's sectors.
SECTOR_BYTES = 512
# Block devices that are not physical disks: memory, files, optical drives, and devices on top of other disks.
_NOT_DISKS = re.compile(r"(loop|ram|zram|sr|fd|dm-|md)")
# Interfaces that are not physical: the loopback, bridges and bonds.
_NOT_WIRES = re.compile(r"(lo$|veth|docker|br-|virbr|cni|flannel|cali|bond|dummy|ifb)")


class Source:
    """A source of samples. If ``read`` raises OSError, ValueError or IndexError, the sample is skipped."""

    group = ""

    def read(self, now_s: float) -> list[Reading]:
        """Returns the current values."""
        raise NotImplementedError

    def close(self) -> None:
        """Releases the source's resources."""


class Rates:
    """Converts increasing counters to rates."""

    def __init__(self) -> None:
        self._before: tuple[float, dict[str, float]] | None = None

    def of(self, now_s: float, counters: dict[str, float]) -> dict[str, float]:
        """The rates per second since the last call; empty at the first call."""
        before, self._before = self._before, (now_s, counters)
        if before is None or now_s <= before[0]:
            return {}
        seconds = now_s - before[0]
        # The counters of a removed device disappear: the rate must not become negative.
        return {
            name: max(0.0, count - before[1].get(name, count)) / seconds
            for name, count in counters.items()
        }


class Cpu(Source):
    """All cores together, from ``/proc/stat``, and the load average if available."""

    group = "cpu"

    def __init__(self, proc: Path) -> None:
        self._path = proc / "stat"
        self._has_proc = self._path.is_file()
        self._before: tuple[int, int, int] | None = None

    def read(self, now_s: float) -> list[Reading]:
        values = {"load_average": os.getloadavg()[0]}
        if self._has_proc:
            values.update(self._shares())
        return [(self.group, "", values)]

    def _shares(self) -> dict[str, float]:
        with open(self._path, "rb") as file:
            fields = [int(field) for field in file.readline().split()[1:9]]
        # The fields are user, nice, system, idle, iowait, irq, softirq and steal; user includes the guests.
        total, waiting = sum(fields), fields[4]
        idle = fields[3] + waiting
        before, self._before = self._before, (total, idle, waiting)
        ticks = 0 if before is None else total - before[0]
        if before is None or ticks <= 0:
            return {}
        return {
            "utilization_percent": _percent(ticks - (idle - before[1]), ticks),
            "iowait_percent": _percent(waiting - before[2], ticks),
        }


class Memory(Source):
    """The used memory: the part that is unavailable to a new process."""

    group = "memory"

    def __init__(self, proc: Path) -> None:
        self._path = proc / "meminfo"

    def read(self, now_s: float) -> list[Reading]:
        kib: dict[bytes, int] = {}
        with open(self._path, "rb") as file:
            for line in file:
                name, _, rest = line.partition(b":")
                kib[name] = int(rest.split()[0])
                if name == b"MemAvailable":
                    break
        total, available = kib.get(b"MemTotal", 0), kib.get(b"MemAvailable", 0)
        values = {
            "used_bytes": float(total - available) * 1024,
            "available_bytes": float(available) * 1024,
            "utilization_percent": _percent(total - available, total),
        }
        return [(self.group, "", values)]


class Disk(Source):
    """All disks together, without partitions, which their disks include."""

    group = "disk"

    def __init__(self, proc: Path) -> None:
        self._path = proc / "diskstats"
        self._rates = Rates()

    def read(self, now_s: float) -> list[Reading]:
        with open(self._path, "rb") as file:
            lines = [line.split() for line in file]
        disks = whole_disks(line[2].decode() for line in lines if len(line) > 9)
        counters = {
            "read_bytes_per_second": 0.0,
            "written_bytes_per_second": 0.0,
            "operations_per_second": 0.0,
        }
        for line in lines:
            if len(line) > 9 and line[2].decode() in disks:
                counters["operations_per_second"] += int(line[3]) + int(line[7])
                counters["read_bytes_per_second"] += int(line[5]) * SECTOR_BYTES
                counters["written_bytes_per_second"] += int(line[9]) * SECTOR_BYTES
        return _of_rates(self.group, self._rates.of(now_s, counters))


class Network(Source):
    """All network interfaces together, as this process sees them."""

    group = "network"

    def __init__(self, proc: Path) -> None:
        self._path = proc / "net" / "dev"
        self._rates = Rates()

    def read(self, now_s: float) -> list[Reading]:
        counters = {"received_bytes_per_second": 0.0, "sent_bytes_per_second": 0.0}
        with open(self._path, "rb") as file:
            for line in file:
                name, colon, rest = line.partition(b":")
                if colon and not _NOT_WIRES.match(name.strip().decode()):
                    fields = rest.split()
                    counters["received_bytes_per_second"] += int(fields[0])
                    counters["sent_bytes_per_second"] += int(fields[8])
        return _of_rates(self.group, self._rates.of(now_s, counters))


class Counted(Source):
    """The counts of the training loop; empty until it counts something."""

    group = "throughput"

    def __init__(self, throughput: Throughput) -> None:
        self._throughput = throughput
        self._rates = Rates()

    def read(self, now_s: float) -> list[Reading]:
        counted = {
            "batches_per_second": float(self._throughput.batches),
            "samples_per_second": float(self._throughput.samples),
        }
        rates = self._rates.of(now_s, counted)
        return _of_rates(self.group, {name: rates[name] for name in rates if counted[name] > 0})


def whole_disks(names: Iterable[str]) -> list[str]:
    """The disks among a kernel's block devices, without partitions. A partition's name is the disk's name and a
    number, with a p between them if the disk's name ends in a digit.
    """
    all_names = [name for name in names if not _NOT_DISKS.match(name)]
    known = set(all_names)
    return [name for name in all_names if _disk_of(name) not in known]


def _disk_of(name: str) -> str:
    stem = name.rstrip("0123456789")
    if stem == name:
        return ""
    if stem.endswith("p") and stem[-2:-1].isdigit():
        return stem[:-1]
    return "" if stem[-1:].isdigit() else stem


def _percent(part: float, whole: float) -> float:
    return 0.0 if whole <= 0 else max(0.0, min(100.0, 100.0 * part / whole))


def _of_rates(group: str, rates: dict[str, float]) -> list[Reading]:
    return [(group, "", rates)] if rates else []
