"""Reports the versions of Python and of the packages of a run to the platform once, in a background thread.

The report is for people who reproduce the experiment. A failure to report is ignored, and a run that ends early
has no report.
"""

from __future__ import annotations

import json
import platform
import threading
import time
from urllib.parse import quote

from . import _log as log
from ._http import Backoff, HttpConnection, UnreachableError
from ._limits import (
    ENVIRONMENT_ATTEMPTS,
    ENVIRONMENT_BACKOFF_FIRST_S,
    ENVIRONMENT_BACKOFF_MAX_S,
    ENVIRONMENT_FIRST_S,
    ENVIRONMENT_PACKAGES_MAX,
    ENVIRONMENT_TIMEOUT_S,
)


def tell_environment(url: str, run: str, token: str) -> threading.Thread:
    """Starts the reporting thread. Raises ValueError for an invalid URL."""
    connection = HttpConnection(url, token, ENVIRONMENT_TIMEOUT_S)
    path = f"/api/v1/runs/{quote(run, safe='')}/environment"
    name = "trainyard-environment"
    thread = threading.Thread(target=_tell, args=(connection, path), name=name, daemon=True)
    thread.start()
    return thread


def packages() -> dict[str, str]:
    """The versions of the packages that this process can import, by name."""
    # A local import in the thread: it takes about ten milliseconds.
    from importlib import metadata

    versions: dict[str, str] = {}
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"]
        # Python imports the first version of a package on the path.
        if name and len(versions) < ENVIRONMENT_PACKAGES_MAX:
            versions.setdefault(str(name).lower(), str(distribution.version))
    return versions


def _tell(connection: HttpConnection, path: str) -> None:
    try:
        # The report waits so that it does not slow down the script's start.
        time.sleep(ENVIRONMENT_FIRST_S)
        body = {"python": platform.python_version(), "packages": packages()}
        content = json.dumps(body).encode("utf-8")
        backoff = Backoff(ENVIRONMENT_BACKOFF_FIRST_S, ENVIRONMENT_BACKOFF_MAX_S)
        for _ in range(ENVIRONMENT_ATTEMPTS):
            reply = None
            try:
                reply = connection.request("POST", path, content)
                if reply.is_of_platform() and reply.status < 500 and reply.status != 429:
                    return
            except UnreachableError as error:
                log.debug("could not report the packages of the run: %s", error)
            time.sleep(backoff.next_s(reply))
    except Exception:
        log.exception("the packages of the run are not recorded")
    finally:
        connection.close()
