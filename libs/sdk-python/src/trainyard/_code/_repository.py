"""Reads from git which commit a folder of training code came from. Only files that are packed are considered, as
by ``yard``.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

from ._pack import rules_of

# The time limit of a git command in seconds: a large repository on a slow disk takes several.
_GIT_S = 20.0
# A longer diff is not recorded: the gateway would refuse it.
_DIFF_BYTES_MAX = 1024 * 1024
# The number of paths that fit on one command line.
_DIFF_PATHS_MAX = 1_000


def repository_of(folder: Path) -> dict[str, Any] | None:
    """The folder's commit and changes; None without git, without a commit, or if git tracks none of its files."""
    commit = _git(folder, "rev-parse", "HEAD")
    if not commit or not _git(folder, "ls-files", "-z", "--", "."):
        return None
    branch = _git(folder, "symbolic-ref", "--quiet", "--short", "HEAD")
    upstream = _git(folder, "config", "--get", f"branch.{branch}.remote")
    remote = _git(folder, "remote", "get-url", upstream.strip() or "origin").strip()
    inside = _git(folder, "rev-parse", "--show-prefix").strip("\n")
    rules = rules_of(folder)
    known, changed = [], False
    for line in filter(None, _git(folder, *_STATUS).split("\0")):
        # Git prints two status letters, a space, and the path from the repository's root.
        path = line[3:]
        parts = path[len(inside) :].split("/")
        above = ["/".join(parts[:end]) for end in range(1, len(parts))]
        if rules.leave_out("/".join(parts), False) or any(rules.leave_out(x, True) for x in above):
            continue
        changed = True
        known += [] if line.startswith("??") else [path]
    return {
        "commit": commit.strip(),
        "branch": branch.strip(),
        "remote": re.sub(r"://[^/]*@", "://", remote),
        "folder": inside.rstrip("/"),
        "changed": changed,
        "diff": _diff(folder, known),
    }


_STATUS = ("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--", ".")


def _diff(folder: Path, paths: list[str]) -> str:
    if not 0 < len(paths) <= _DIFF_PATHS_MAX:
        return ""
    plain = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames")
    return _git(folder, "diff", "HEAD", *plain, "--", *(f":(top,literal){one}" for one in paths))


def _git(folder: Path, *arguments: str) -> str:
    """The output of git; empty if git fails or prints too much. Programs in the repository's git settings are not
    run.
    """
    safe = ("--no-optional-locks", "-c", "core.fsmonitor=false", "-C", str(folder))
    try:
        run = subprocess.run(("git", *safe, *arguments), capture_output=True, timeout=_GIT_S)
    except (OSError, subprocess.TimeoutExpired):
        # The submission is complete without git's facts.
        return ""
    fits = run.returncode == 0 and len(run.stdout) <= _DIFF_BYTES_MAX
    return run.stdout.decode("utf-8", "replace") if fits else ""
