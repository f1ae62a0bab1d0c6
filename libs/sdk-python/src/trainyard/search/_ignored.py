"""The files that .trainyardignore and .detignore leave out: patterns as in a .gitignore (gitignore(5))."""

from __future__ import annotations

import re
from collections.abc import Iterable
from re import Pattern
from typing import NamedTuple

ALWAYS = (".git", "__pycache__", "*.pyc", ".trainyard")


class _Rule(NamedTuple):
    pattern: Pattern[str]
    folders_only: bool
    keeps: bool


class Rules:
    """Whether a path, relative with / between its parts, is left out. What is inside of a folder that
    is left out is not asked about.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._rules: list[_Rule] = [rule for rule in map(_rule, lines) if rule is not None]

    def leave_out(self, path: str, is_folder: bool) -> bool:
        """The last rule that matches says."""
        for rule in reversed(self._rules):
            if (is_folder or not rule.folders_only) and rule.pattern.fullmatch(path):
                return not rule.keeps
        return False


def _rule(line: str) -> _Rule | None:
    text = line.rstrip("\r\n")
    # A space at the end counts only behind a backslash.
    while text.endswith(" ") and not text.endswith("\\ "):
        text = text[:-1]
    if not text or text.startswith("#"):
        return None
    keeps = text.startswith("!")
    text = text[1:] if keeps else text
    folders_only = text.endswith("/")
    text = text.rstrip("/") if folders_only else text
    # A slash at the beginning or inside binds the pattern to the folder; else it is of any depth.
    anywhere = "/" not in text
    pattern = re.compile(
        ("(?:.*/)?" if anywhere else "") + _expression(text.lstrip("/")), re.DOTALL
    )
    return _Rule(pattern, folders_only, keeps)


_TOKEN = re.compile(r"/\*\*/|^\*\*/|/\*\*$|\*+|\?|\\.|\[[!^]?\]?[^\]]*\]|.", re.DOTALL)


def _expression(text: str) -> str:
    return "".join(_translated(token) for token in _TOKEN.findall(text))


def _translated(token: str) -> str:
    if token == "/**/":
        return "/(?:.*/)?"
    if token == "**/":
        return "(?:.*/)?"
    if token == "/**":
        return "/.+"
    if token.startswith("*"):
        return "[^/]*"
    if token == "?":
        return "[^/]"
    if token.startswith("[") and len(token) > 1:
        negated = token[1] in "!^"
        inside = token[2 if negated else 1 : -1].replace("\\", "\\\\").replace("[", "\\[")
        return f"(?!/)[{'^' if negated else ''}{inside}]"
    return re.escape(token[1:] if token.startswith("\\") and len(token) > 1 else token)
