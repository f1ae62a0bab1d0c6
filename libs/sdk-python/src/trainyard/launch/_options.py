"""The command line of ``python -m trainyard.launch.torch``.

    [OPTIONS…] [--] SCRIPT [ARGUMENTS…]
    [OPTIONS…] [--] -m MODULE [ARGUMENTS…]

SCRIPT is a Python file, or a command (``python3 train.py``), as for Determined's ``launch.torch_distributed``. The
options are torchrun's, in both spellings (``--nproc-per-node``, ``--nproc_per_node``); their defaults come from
the task's environment.
"""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

# Options of torchrun that are ignored: the launcher has only one rendezvous and one start method, and the platform
# restarts runs and keeps their output.
_WITHOUT_EFFECT = frozenset(
    [
        "rdzv-backend",
        "rdzv-id",
        "rdzv-conf",
        "max-restarts",
        "monitor-interval",
        "start-method",
        "role",
        "log-dir",
        "redirects",
        "tee",
        "local-ranks-filter",
        "local-addr",
        "logs-specs",
        "event-log-handler",
    ]
)
_WITH_EFFECT = frozenset(
    [
        "nproc-per-node",
        "nnodes",
        "node-rank",
        "master-addr",
        "master-port",
        "rdzv-endpoint",
        "grace",
    ]
)
_FLAGS = frozenset(("standalone", "no-python", "run-path"))
_SHORT = {"-r": "redirects", "-t": "tee"}


class UsageError(Exception):
    """The command line is invalid; the text is one sentence."""


class Options(NamedTuple):
    """The parsed options; None for an option that the environment decides."""

    command: list[str]
    nproc: int | None
    nnodes: int | None
    node_rank: int | None
    master_addr: str | None
    master_port: int | None
    grace_s: float
    without_effect: list[str]


def parse(arguments: list[str], grace_s: float) -> Options:
    """Parses a command line. Raises UsageError with the problem and its correction."""
    values: dict[str, str] = {}
    without_effect: list[str] = []
    rest = list(arguments)
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "--module"):
        word = rest.pop(0)
        if word == "--":
            break
        name, value = _option(word, rest)
        if name in _WITHOUT_EFFECT or name == "standalone":
            without_effect.append(f"--{name}")
        else:
            values[name] = value
    addr, port = _master(values)
    return Options(
        command=_command(rest, "no-python" in values),
        nproc=_processes(values.get("nproc-per-node")),
        nnodes=_nodes(values.get("nnodes")),
        node_rank=_whole("node-rank", values.get("node-rank"), 0),
        master_addr=addr,
        master_port=port,
        grace_s=float(_whole("grace", values.get("grace"), 0) or grace_s),
        without_effect=without_effect,
    )


def _option(word: str, rest: list[str]) -> tuple[str, str]:
    flag, equals, value = word.partition("=")
    name = _SHORT.get(flag) or flag.lstrip("-").replace("_", "-")
    if name == "trial":
        raise UsageError(
            "--trial is not supported: start a script that makes the trial and calls "
            "trainyard.pytorch.Trainer(trial, context).fit()"
        )
    if name in _FLAGS:
        return name, value
    if name not in _WITH_EFFECT and name not in _WITHOUT_EFFECT:
        raise UsageError(
            f"{flag} is not an option of the launcher: put options of the script after its name"
        )
    if equals:
        return name, value
    if not rest:
        raise UsageError(f"{flag} needs a value: write {flag}=VALUE before the script")
    return name, rest.pop(0)


def _command(words: list[str], as_it_is: bool) -> list[str]:
    if not words:
        raise UsageError("the command is missing: name a script, or -m and a module")
    if words[0] in ("-m", "--module"):
        if len(words) < 2:
            raise UsageError("-m needs the name of a module after it")
        return [sys.executable, "-m", *words[1:]]
    if as_it_is or not words[0].endswith(".py"):
        return words
    return words if os.access(words[0], os.X_OK) and "/" in words[0] else [sys.executable, *words]


def _master(values: dict[str, str]) -> tuple[str | None, int | None]:
    host, _, port = values.get("rdzv-endpoint", "").partition(":")
    addr = values.get("master-addr") or host or None
    return addr, _whole("master-port", values.get("master-port") or port or None, 0)


def _processes(text: str | None) -> int | None:
    if text == "cpu":
        return os.cpu_count() or 1
    if text in ("gpu", "auto"):
        import torch

        count = torch.cuda.device_count()
        if count == 0 and text == "gpu":
            raise UsageError("--nproc-per-node=gpu finds no GPU here: give a number")
        return count or os.cpu_count() or 1
    return _whole("nproc-per-node", text, 1)


def _nodes(text: str | None) -> int | None:
    """Parses ``2``, or torchrun's ``1:2``: the run uses the maximum."""
    return _whole("nnodes", None if text is None else text.rpartition(":")[2], 1)


def _whole(name: str, text: str | None, least: int) -> int | None:
    if text is None:
        return None
    try:
        value = int(text)
    except ValueError:
        raise UsageError(f"--{name} must be a whole number, not {text!r}") from None
    if value < least:
        raise UsageError(f"--{name} must be {least} or more, not {value}")
    return value
