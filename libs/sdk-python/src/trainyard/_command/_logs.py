"""The options of ``logs``, for trials and experiments."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from typing import Any

from ..client._logs import read_lines
from ._call import Call, UsageError, time_ms, whole_number


def print_lines(call: Call, path: str, with_trial: bool) -> None:
    """Prints the stored lines."""
    tail = whole_number("--tail", call.given.tail, 1)
    api = call.api()
    filters = _filters(call.given)
    _print(call, read_lines(api, path, filters, False, None, tail, api.patience_s), with_trial)


def follow_lines(call: Call, path: str, given: Namespace | None, with_trial: bool) -> None:
    """Prints the stored lines and then new ones, until the experiment or trial has ended."""
    if given is not None and given.tail is not None:
        raise UsageError("--tail cannot be combined with --follow.")
    filters = {} if given is None else _filters(given)
    api = call.api()
    _print(call, read_lines(api, path, filters, True, None, None, api.patience_s), with_trial)


def _filters(given: Namespace) -> dict[str, Any]:
    return {
        "run": whole_number("--run", given.run_number),
        "nodeRank": whole_number("--node", given.node),
        "rank": whole_number("--rank", given.rank),
        "source": given.stream,
        "level": given.level,
        "fromMs": time_ms("--since", given.since),
        "untilMs": time_ms("--until", given.until),
        "contains": given.contains,
        "matches": given.grep,
        "search": given.search,
    }


def _print(call: Call, lines: Iterable[dict[str, Any]], with_trial: bool) -> None:
    for line in lines:
        if call.json:
            call.message(line)
        else:
            text = str(line.get("text") or "")
            call.line(f"[{line.get('trial')}] {text}" if with_trial else text)
