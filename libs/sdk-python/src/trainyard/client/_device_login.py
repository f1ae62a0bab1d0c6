"""Sign-in as a person: by a code that the person confirms in a browser (RFC 8628), or by name and password. Both give
a token of the person, which does not end with the browser's session.
"""

from __future__ import annotations

import hashlib
import json
import platform
import time
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from .._http import HttpConnection, Reply, UnreachableError
from .._version import __version__
from ._api import Api, error_of, number_of, segment
from ._errors import ApiError, PlatformAwayError

# The salt of Determined's command line, whose users can therefore sign in with their passwords.
_SALT = "GubPEmmotfiK9TMD6Zdw"
_TIMEOUT_S = 30.0
# The seconds by which the interval grows when the platform asks for it (RFC 8628, section 3.5).
_SLOW_DOWN_S = 5.0
# The platform takes no longer names of programs.
_PROGRAM_CHARACTERS_MAX = 100


class SignedIn(NamedTuple):
    """A token, and the name of the person who owns it."""

    token: str
    user: str


def sent_password(typed: str) -> str:
    """Returns the form in which a password is sent. The form is as secret as it."""
    return hashlib.sha512((_SALT + typed).encode()).hexdigest()


def by_code(url: str, patience_s: float, say: Callable[[str], None]) -> SignedIn:
    """Says which page to open, and waits until a person has confirmed the code there. Raises ApiError if the person
    refuses, or confirms nothing in ten minutes.
    """
    api = Api(url, "", patience_s)
    try:
        started = _start(api)
        page = url.rstrip("/") + str(started["path"])
        say(f"open {page} in a browser, and confirm the code {started['code']}")
        return _wait(api, started)
    finally:
        api.close()


def by_password(url: str, name: str, password: str, patience_s: float) -> SignedIn:
    """Signs in with a name and a password: in a session of its own, the program confirms its own code."""
    api, browser = Api(url, "", patience_s), _Session(url)
    try:
        browser.call(
            "POST", "/api/v1/sessions", {"name": name, "password": sent_password(password)}
        )
        started = _start(api)
        path = f"/api/v1/device-logins/{segment(str(started['code']))}:answer"
        browser.call("POST", path, {"confirm": True})
        signed_in = _finish(api, started)
        browser.call("DELETE", "/api/v1/sessions/current")
        return signed_in
    finally:
        browser.close()
        api.close()


def _start(api: Api) -> dict[str, Any]:
    program = f"trainyard {__version__} on {platform.node()}"[:_PROGRAM_CHARACTERS_MAX]
    return api.call("POST", "/api/v1/device-logins", {"program": program})


def _wait(api: Api, started: dict[str, Any]) -> SignedIn:
    interval_s = float(started.get("intervalSeconds") or 0)
    while True:
        time.sleep(interval_s)
        try:
            return _finish(api, started)
        except ApiError as error:
            if error.code == "slow_down":
                interval_s += _SLOW_DOWN_S
            elif error.code != "authorization_pending":
                raise
        except PlatformAwayError:
            # A gateway that restarts is asked again, as long as the code may be confirmed.
            if time.time() * 1000 > number_of(started.get("expiresAtMs") or 0):
                raise


def _finish(api: Api, started: dict[str, Any]) -> SignedIn:
    path = "/api/v1/device-logins:finish"
    answer = api.call("POST", path, {"secret": str(started["secret"])})
    return SignedIn(str(answer["token"]), str(answer.get("user") or ""))


class _Session:
    """A session as a browser has one: its calls send the cookie, and the origin that a change by a cookie needs."""

    def __init__(self, url: str) -> None:
        self._connection = HttpConnection(url, "", _TIMEOUT_S)
        parts = urlsplit(url)
        self._headers = {"Origin": f"{parts.scheme}://{parts.netloc}"}

    def close(self) -> None:
        self._connection.close()

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> None:
        content = None if body is None else json.dumps(body).encode()
        try:
            reply = self._connection.request(method, path, content, self._headers)
        except UnreachableError as error:
            raise PlatformAwayError(f"{method} {path}: {error}") from error
        if not 200 <= reply.status < 300:
            raise error_of(reply.status, reply.json(), reply.retry_after_s())
        self._keep_cookie(reply)

    def _keep_cookie(self, reply: Reply) -> None:
        cookie = reply.headers.get("set-cookie", "").partition(";")[0]
        if cookie:
            self._headers["Cookie"] = cookie
