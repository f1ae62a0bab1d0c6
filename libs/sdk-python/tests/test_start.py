"""A script's start waits for this package to load, so what is slow to load is loaded later."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE = str(Path(__file__).parent.parent / "src")
# Each takes from 2 to 15 ms on a slow core. What the interpreter's own start loads is left out.
LATE = ("http.client", "ssl", "email", "hashlib", "logging", "shutil", "inspect", "random", "uuid")

SCRIPT = """
import json, sys
sys.path.insert(0, sys.argv[1])
before = set(sys.modules)
import trainyard
print(json.dumps(sorted(set(sys.modules) - before)))
"""


class Start(unittest.TestCase):
    def test_nothing_slow_is_loaded_by_the_import(self):
        # Without the site's own start files, which may load anything.
        command = [sys.executable, "-I", "-S", "-c", SCRIPT, SOURCE]
        loaded = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        self.assertIn("trainyard", loaded)
        self.assertEqual([module for module in loaded if module in LATE], [])


if __name__ == "__main__":
    unittest.main()
