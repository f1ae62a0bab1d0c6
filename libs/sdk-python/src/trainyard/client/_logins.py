"""The file of ``login``: the clusters of a person, of which one is current. The command line reads and writes the
same file: clusters.json in $XDG_CONFIG_HOME/trainyard (~/.config/trainyard by default), mode 0600.

{"current": "lab", "clusters": {"lab": {"url": "https://lab.example", "token": "…", "user": "ada"}}}
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit


class Access(NamedTuple):
    """The address of a cluster's gateway, and a token for it."""

    url: str
    token: str

    def __repr__(self) -> str:
        return f"Access(url={self.url!r})"


class Logins(NamedTuple):
    """The content of the file. ``current`` is empty if there is none. ``users`` has the name of the person whose
    sign-in made a login's token; logout revokes such a token.
    """

    current: str
    clusters: dict[str, Access]
    users: Mapping[str, str] = {}


def logins_file(environment: Mapping[str, str]) -> Path:
    """Returns the path of the file."""
    folder = environment.get("XDG_CONFIG_HOME") or ""
    base = Path(folder) if os.path.isabs(folder) else Path.home() / ".config"
    return base / "trainyard" / "clusters.json"


def read_logins(environment: Mapping[str, str]) -> Logins:
    """Returns the content of the file; without a file there are no clusters. Raises ValueError for a file that
    others may read or that is damaged: its tokens are secrets.
    """
    path = logins_file(environment)
    try:
        with path.open(encoding="utf-8") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            if mode & 0o077:
                raise ValueError(f"{path} can be read by others: run chmod 600 {path}")
            content: Any = json.load(file)
        known = {
            str(name): Access(str(one["url"]), str(one["token"]))
            for name, one in content["clusters"].items()
        }
        users = {
            str(name): str(one["user"])
            for name, one in content["clusters"].items()
            if "user" in one
        }
        return Logins(str(content.get("current") or ""), known, users)
    except FileNotFoundError:
        return Logins("", {})
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is damaged: remove it and log in again") from error


def write_logins(environment: Mapping[str, str], logins: Logins) -> Path:
    """Replaces the file, with mode 0600."""
    path = logins_file(environment)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    clusters = {
        name: {"url": one.url, "token": one.token, **_user_of(logins, name)}
        for name, one in logins.clusters.items()
    }
    text = json.dumps({"current": logins.current, "clusters": clusters}, indent=2) + "\n"
    # mkstemp creates the file with mode 0600.
    handle, temporary = tempfile.mkstemp(prefix=".clusters-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return path


def _user_of(logins: Logins, name: str) -> dict[str, str]:
    return {"user": logins.users[name]} if name in logins.users else {}


def login_name(url: str) -> str:
    """Returns the name that a login gets by default: host and port."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"the address of a cluster begins with http:// or https://, not {url!r}")
    return parts.netloc.rpartition("@")[2]
