"""``client.login`` and ``client.logout``: the clusters that a person's scripts and notebooks use."""

from __future__ import annotations

import os

from ._api import Api
from ._logins import Access, Logins, login_name, read_logins, write_logins

# A wrong address is noticed soon.
LOGIN_PATIENCE_S = 5.0


def login(url: str, token: str, name: str = "") -> str:
    """Stores a cluster, so that ``Client()`` and the command line use it, and returns its name: ``name``, or else
    host and port. It becomes the current one, and replaces an earlier login with its name.

    ``url`` is the gateway's address, ``token`` one of ``yard token create``; the platform is asked whether it takes
    the token. Raises ApiError if it does not, PlatformAwayError if nothing answers, and ValueError for an address
    that is not of HTTP. The file is ~/.config/trainyard/clusters.json (below XDG_CONFIG_HOME if that is set), which
    only its owner can read.
    """
    name = name or login_name(url)
    login_name(url)
    api = Api(url, token, LOGIN_PATIENCE_S)
    try:
        api.get("/api/v1/experiments", [("pageSize", "1")])
    finally:
        api.close()
    known = read_logins(os.environ).clusters
    write_logins(os.environ, Logins(name, {**known, name: Access(url.rstrip("/"), token)}))
    return name


def logout(name: str = "") -> None:
    """Forgets a login, by default the current one; then no login is current. Its token stays valid: revoke it with
    ``yard token revoke``. Raises ValueError if there is no such login.
    """
    logins = read_logins(os.environ)
    name = name or logins.current
    if name not in logins.clusters:
        raise ValueError(f"there is no login with the name {name!r}")
    rest = {key: access for key, access in logins.clusters.items() if key != name}
    write_logins(os.environ, Logins("" if name == logins.current else logins.current, rest))
