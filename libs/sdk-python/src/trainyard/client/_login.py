"""``client.login`` and ``client.logout``: the clusters that a person's scripts and notebooks use."""

from __future__ import annotations

import os
from collections.abc import Callable

from ._api import Api, segment
from ._errors import ApiError
from ._logins import Access, Logins, login_name, read_logins, write_logins

# A wrong address is noticed soon.
LOGIN_PATIENCE_S = 5.0


def login(
    url: str,
    token: str = "",
    name: str = "",
    *,
    user: str = "",
    password: str = "",
    say: Callable[[str], None] = print,
) -> str:
    """Stores a cluster, so that ``Client()`` and the command line use it, and returns its name: ``name``, or else
    host and port. It becomes the current one, and replaces an earlier login with its name.

    Without a ``token`` it signs a person in: it prints (with ``say``) the address of a page and a code, and waits
    until the person has confirmed the code in a browser, at most ten minutes. With ``user`` and ``password`` it
    needs no browser. ``url`` is the gateway's address. A ``token`` is one of ``yard token create``.

    Raises ApiError if the platform refuses, PlatformAwayError if nothing answers, and ValueError for an address that
    is not of HTTP. The file is ~/.config/trainyard/clusters.json (below XDG_CONFIG_HOME if that is set), which only
    its owner can read.
    """
    name = name or login_name(url)
    login_name(url)
    if bool(user) != bool(password) or (token and user):
        raise ValueError("login takes a token, or a user with a password, or neither")
    made_for = ""
    if not token:
        # A local import: most scripts sign nobody in.
        from ._device_login import by_code, by_password

        if user:
            token, made_for = by_password(url, user, password, LOGIN_PATIENCE_S)
        else:
            token, made_for = by_code(url, LOGIN_PATIENCE_S, say)
    api = Api(url, token, LOGIN_PATIENCE_S)
    try:
        api.get("/api/v1/experiments", [("pageSize", "1")])
    finally:
        api.close()
    known = read_logins(os.environ)
    clusters = {**known.clusters, name: Access(url.rstrip("/"), token)}
    users = {key: one for key, one in known.users.items() if key != name}
    if made_for:
        users[name] = made_for
    write_logins(os.environ, Logins(name, clusters, users))
    return name


def logout(name: str = "") -> None:
    """Forgets a login, by default the current one; then no login is current. A token that ``login`` made is revoked,
    with the tokens that were created with it; another stays valid: revoke it with ``yard token revoke``. Raises
    ValueError if there is no such login, and ApiError or PlatformAwayError if a token could not be revoked; the login
    is forgotten then, too.
    """
    logins = read_logins(os.environ)
    name = name or logins.current
    if name not in logins.clusters:
        raise ValueError(f"there is no login with the name {name!r}")
    rest = {key: access for key, access in logins.clusters.items() if key != name}
    current = "" if name == logins.current else logins.current
    write_logins(os.environ, Logins(current, rest, logins.users))
    if name in logins.users:
        _revoke(logins.clusters[name])


def _revoke(access: Access) -> None:
    api = Api(access.url, access.token, LOGIN_PATIENCE_S)
    try:
        token = str(api.get("/api/v1/sessions/current")["token"])
        api.call("DELETE", f"/api/v1/tokens/{segment(token)}")
    except ApiError as error:
        # A token that has ended needs no end.
        if error.status != 401:
            raise
    finally:
        api.close()
