"""``python3 -m trainyard`` is the program ``trainyard``."""

import sys

from ._command import main

if __name__ == "__main__":
    sys.exit(main())
