"""``python -m trainyard.profiler FOLDER``: the machine's load in runs of local mode.

The output is that of ``yard trial profile`` for a trial on a cluster, from the reports of each run in the folder.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .._spool import REPORTS, parse_line
from .._train import TRAINING
from ._summary import Summary

TITLES = ("NODE", "GROUP", "DEVICE", "MEASURED", "MIN", "MEAN", "MAX", "SAMPLES")
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def main(arguments: Sequence[str]) -> int:
    """Prints the profile of each run. Returns the exit code: 1 if no run was profiled."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: python -m trainyard.profiler FOLDER", file=sys.stderr)
        return 2
    has_samples = False
    for run, reports in runs_in(Path(arguments[0])):
        summary = Summary()
        for report in reports:
            summary.add(report, report.get("group") == TRAINING)
        rows = rows_of(summary)
        if not rows:
            continue
        if has_samples:
            print()
        has_samples = True
        print(f"run {run}")
        for line in table([TITLES, *rows]):
            print(line)
        pace = summary.pace()
        if pace is not None:
            print(f"pace  {pace:.6g} steps a second")
    if not has_samples:
        print(
            f"no run in {arguments[0]} was profiled: call ctx.profiler.on(), or begin with "
            'trainyard.init(local_config={"profiling": {"enabled": True}})',
            file=sys.stderr,
        )
        return 1
    return 0


def runs_in(folder: Path) -> Iterator[tuple[int, Iterator[dict[str, Any]]]]:
    """Yields the runs of a local folder in their order, each with its reports."""
    numbers = sorted(
        int(one.name[4:]) for one in folder.glob("run-*") if re.fullmatch(r"run-\d+", one.name)
    )
    for number in numbers:
        path = folder / f"run-{number}" / "spool" / REPORTS
        if path.is_file():
            yield number, _reports_in(path)


def _reports_in(path: Path) -> Iterator[dict[str, Any]]:
    with open(path, "rb") as file:
        for line in file:
            report = parse_line(line)
            if report is not None:
                yield report


def rows_of(summary: Summary) -> list[tuple[str, ...]]:
    """Returns a table row for each quantity."""
    return [
        (
            str(node),
            group,
            device,
            name,
            amount(name, total.least),
            amount(name, total.mean),
            amount(name, total.most),
            str(total.samples),
        )
        for (node, group, device, name), total in sorted(summary.totals.items())
    ]


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yields the lines of a table with aligned columns; the last four columns are numbers."""
    widths = [max(len(row[n]) for row in rows) for n in range(len(TITLES))]
    for row in rows:
        cells = [
            cell.rjust(width) if n >= 4 else cell.ljust(width)
            for n, (cell, width) in enumerate(zip(row, widths))
        ]
        yield "  ".join(cells).rstrip()


def amount(name: str, value: float) -> str:
    """Formats bytes with a unit for people; other values keep the unit in their name."""
    if not name.endswith(("_bytes", "_bytes_per_second")):
        return f"{value:.6g}"
    power = 0
    while abs(value) >= 1024 and power < len(_UNITS) - 1:
        value /= 1024
        power += 1
    return f"{value:.6g} {_UNITS[power]}"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
