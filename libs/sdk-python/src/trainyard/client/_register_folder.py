"""The program behind ``yard model register-folder``: ``python3 -m trainyard.client._register_folder``.

The program reads one JSON object from stdin: ``url``, ``token`` and the arguments of ``Client.register_folder``.
It writes one JSON object to stdout: with ``version``, or with ``problem``, a sentence. It logs the progress of the
upload to stderr.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from ..errors import TrainyardError
from ._client import Client
from ._errors import PlatformAwayError


def main() -> int:
    """Runs the program and returns its exit status."""
    order: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    client = Client(order.pop("url"), order.pop("token"))
    try:
        answer: dict[str, Any] = {"version": client.register_folder(**order).as_json()}
    except PlatformAwayError as error:
        answer = {"problem": f"the platform cannot be reached: {error}"}
    except (TrainyardError, ValueError, OSError) as error:
        answer = {"problem": str(error)}
    sys.stdout.write(json.dumps(answer))
    return 0 if "version" in answer else 1


if __name__ == "__main__":
    sys.exit(main())
