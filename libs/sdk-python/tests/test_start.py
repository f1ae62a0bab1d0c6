"""A script's start waits for this package's imports, so slow modules are imported later."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE = str(Path(__file__).parent.parent / "src")
# The import of each module takes from 2 to 15 ms on a slow core. Modules that Python imports at its start are
# omitted.
LATE = ("http.client", "ssl", "email", "hashlib", "logging", "shutil", "inspect", "random", "uuid")

SCRIPT = """
import json, sys
sys.path.insert(0, sys.argv[1])
before = set(sys.modules)
import trainyard
print(json.dumps(sorted(set(sys.modules) - before)))
"""


class Start(unittest.TestCase):
    def test_importing_trainyard_imports_no_slow_module(self):
        # Python starts without the site's start files, which may import any module.
        command = [sys.executable, "-I", "-S", "-c", SCRIPT, SOURCE]
        loaded = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        self.assertIn("trainyard", loaded)
        self.assertEqual([module for module in loaded if module in LATE], [])


if __name__ == "__main__":
    unittest.main()
