"""The patterns of .trainyardignore and .detignore, as in a .gitignore (gitignore(5)), but case-insensitive.

The command line applies the same rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from re import Pattern
from typing import NamedTuple

# Never training code; the last entry is the output folder of runs without a cluster.
ALWAYS = (".git", "__pycache__", "*.pyc", ".trainyard", "trainyard-local/")


class _Rule(NamedTuple):
    pattern: Pattern[str]
    folders_only: bool
    keeps: bool


class Rules:
    """The ignore rules of a folder. Paths are relative, with / between their parts. Files inside an ignored folder
    are not checked.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._rules: list[_Rule] = [rule for rule in map(_rule, lines) if rule is not None]

    def leave_out(self, path: str, is_folder: bool) -> bool:
        """Whether the path is ignored: the last matching rule decides."""
        for rule in reversed(self._rules):
            if (is_folder or not rule.folders_only) and rule.pattern.fullmatch(path):
                return not rule.keeps
        return False


def lines_of(text: str) -> list[str]:
    """The lines of an ignore file."""
    lines = text[1:] if text.startswith("\ufeff") else text
    lines = lines[:-1] if lines.endswith("\r") else lines
    return re.split(r"\r?\n", lines)


def _rule(line: str) -> _Rule | None:
    if line.startswith("#"):
        return None
    keeps = line.startswith("!")
    text = _without_spaces(line[1:] if keeps else line)
    # A pattern that ends with a single backslash matches nothing.
    if not text or _backslashes(text) % 2 == 1:
        return None
    # The first slash of the patterns /** and /**/ does not bind them to the folder, so it is dropped.
    text = text[1:] if re.fullmatch(r"/\*\*+/?", text) else text
    folders_only = text.endswith("/")
    text = text[:-1] if folders_only else text
    # A slash at the beginning or inside binds the pattern to the folder; otherwise it matches at any depth.
    anywhere = "/" not in text
    expression = _expression(text[1:] if text.startswith("/") else text)
    if not text or expression is None:
        return None
    whole = ("(?:.*/)?" if anywhere else "") + expression
    return _Rule(re.compile(whole, re.DOTALL | re.IGNORECASE), folders_only, keeps)


def _without_spaces(text: str) -> str:
    """Removes trailing spaces, except one after a backslash."""
    kept = text.rstrip(" ")
    if kept != text and _backslashes(kept) % 2 == 1:
        return kept[:-1] + " "
    return kept


def _backslashes(text: str) -> int:
    return len(text) - len(text.rstrip("\\"))


_TOKEN = re.compile(r"/\*\*+(?=/|$)|^(?:\*\*+/)+|\*+|\?|\\.|.", re.DOTALL)


def _expression(text: str) -> str | None:
    """The regular expression for a pattern; None if the pattern matches nothing."""
    parts: list[str] = []
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or token[0] == "\\":
            return None
        end: int | None = token.end()
        if token[0] == "[":
            part, end = _class(text, at)
        elif token[0].startswith("/**"):
            part = "/.+" if end == len(text) else "(?:/[^/]+)*"
        elif token[0].startswith("*"):
            part = "(?:.*/)?" if token[0].endswith("/") else "[^/]*"
        elif token[0] == "?":
            part = "[^/]"
        else:
            part = re.escape(token[0][-1])
        if end is None:
            return None
        parts.append(part)
        at = end
    return "".join(parts)


_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"!-.0-\~",
    "lower": "a-z",
    "print": r" -.0-\~",
    "punct": r"!-.:-@\[-`{-\~",
    "space": r" \t\n\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


def _class(text: str, start: int) -> tuple[str, int | None]:
    """The class that begins at ``start``, and the index after it; None for a class that is unclosed or invalid."""
    at = start + 1
    negated = text[at : at + 1] in ("!", "^")
    at += 1 if negated else 0
    members, low = "", ""
    first = True
    while first or text[at : at + 1] != "]":
        first = False
        named = re.compile(r"\[:([^\]]*):\]").match(text, at)
        if at >= len(text) or (named is not None and named[1] not in _POSIX):
            return "", None
        if named is not None:
            members, low, at = members + _POSIX[named[1]], "", named.end()
        elif text[at] == "-" and low and text[at + 1 : at + 2] not in ("", "]"):
            high, at = _member(text, at + 1)
            # A range from high to low matches only its first member.
            members, low = members + (f"-{re.escape(high)}" if low <= high else ""), ""
        else:
            low, at = _member(text, at)
            members += re.escape(low)
    return f"(?!/)[{'^' if negated else ''}{members}]", at + 1


def _member(text: str, at: int) -> tuple[str, int]:
    """The class member at ``at``, which a backslash may escape, and the index after it."""
    at += 1 if text[at] == "\\" else 0
    return text[at], at + 1
