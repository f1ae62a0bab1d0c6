"""``python -m trainyard.launch.deepspeed``: the launcher under Determined's name."""

from __future__ import annotations

import sys

from .torch import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
