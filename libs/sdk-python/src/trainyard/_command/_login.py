"""``trainyard login`` and ``logout``."""

from __future__ import annotations

import getpass
import os
import sys
from pathlib import Path

from ..client._access import find_embedded
from ..client._errors import ApiError, PlatformAwayError
from ..client._login import login as store
from ..client._login import logout as forget
from ..client._logins import logins_file, read_logins
from ._call import Call, UsageError


def login(call: Call) -> None:
    given = call.given
    if given.address:
        url, token = given.address, _token() if given.token else ""
    else:
        access = find_embedded(os.environ, Path.cwd())
        if access is None:
            raise UsageError("No embedded cluster runs here: give the address of a cluster.")
        url, token = access
    try:
        name = store(url, token, given.name or ("" if given.address else "local"), say=call.note)
    except ValueError as error:
        raise UsageError(str(error)) from error
    user = read_logins(os.environ).users.get(name)
    if call.json:
        call.message({"name": name, "url": url.rstrip("/"), **({"user": user} if user else {})})
    else:
        call.line(f"logged in to {name} as {user}" if user else f"logged in to {name}")
    call.note(f"the token is in {logins_file(os.environ)}")


def _token() -> str:
    token = (getpass.getpass("token: ") if sys.stdin.isatty() else sys.stdin.read()).strip()
    if not token:
        raise UsageError("There is no token: yard token create makes one.")
    return token


def logout(call: Call) -> None:
    name = call.given.name or read_logins(os.environ).current
    try:
        forget(name)
    except ValueError as error:
        raise UsageError(str(error)) from error
    except (ApiError, PlatformAwayError) as error:
        call.note(f"its token is not revoked: {error}")
    if call.json:
        call.message({"name": name})
    else:
        call.line(f"logged out of {name}")
