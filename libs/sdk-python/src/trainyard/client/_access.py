"""Finds the cluster that a client calls, in the same places as the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from ._logins import Access, read_logins

_NONE = (
    "no cluster is named and none runs here: start one with npm start, log in with"
    " client.login(url), or set TRAINYARD_URL and TRAINYARD_TOKEN"
)


class NoClusterError(ValueError):
    """No cluster is named and none runs here."""


def find_access(
    url: str, token: str, cluster: str, environment: Mapping[str, str], folder: Path
) -> Access:
    """Returns the cluster's address and a token for it. The first of these that exists counts: the arguments, then
    TRAINYARD_URL and TRAINYARD_TOKEN, the login with the name ``cluster`` or TRAINYARD_CLUSTER, the cluster of
    TRAINYARD_HOME, the current login, and the embedded cluster of the checkout: the one that has this package,
    else one above ``folder``. Raises ValueError if there is none.

    A token is sent only to the address that it belongs to: an address alone takes the token of a login, or of an
    embedded cluster, with this address.
    """
    url = url or ("" if cluster else environment.get("TRAINYARD_URL", ""))
    token = token or ("" if cluster else environment.get("TRAINYARD_TOKEN", ""))
    if url and token:
        return Access(url, token)
    found = _found(url, cluster, environment, folder)
    if found is None:
        if url:
            raise ValueError(f"there is no token for {url}: set TRAINYARD_TOKEN, or log in")
        raise NoClusterError(_NONE)
    return Access(url or found.url, token or found.token)


def _found(url: str, cluster: str, environment: Mapping[str, str], folder: Path) -> Access | None:
    logins = read_logins(environment)
    name = cluster or environment.get("TRAINYARD_CLUSTER", "")
    if url:
        known = (*logins.clusters.values(), find_embedded(environment, folder))
        return next((one for one in known if one and one.url.rstrip("/") == url.rstrip("/")), None)
    if name:
        if name not in logins.clusters:
            raise ValueError(f"there is no login with the name {name!r}: use client.login")
        return logins.clusters[name]
    if not environment.get("TRAINYARD_HOME") and logins.current in logins.clusters:
        return logins.clusters[logins.current]
    return find_embedded(environment, folder)


def find_embedded(environment: Mapping[str, str], folder: Path) -> Access | None:
    """Returns the embedded cluster of TRAINYARD_HOME or of a checkout; None if none runs."""
    for home in _homes(environment, folder):
        try:
            information = json.loads((home / "cluster.json").read_text(encoding="utf-8"))
            token = (home / "token").read_text(encoding="utf-8").strip()
        except (OSError, ValueError):
            continue
        if isinstance(information, dict) and information.get("api") and token:
            return Access(str(information["api"]), token)
    return None


def _homes(environment: Mapping[str, str], folder: Path) -> Iterator[Path]:
    named = environment.get("TRAINYARD_HOME")
    if named:
        yield folder / named
        return
    for checkout in (*Path(__file__).resolve().parents[5:6], folder, *folder.parents):
        home = checkout / ".trainyard"
        # In a folder of everybody, such as /tmp, another person may have left a home.
        if home.is_dir() and home.stat().st_uid == os.getuid():
            yield home
