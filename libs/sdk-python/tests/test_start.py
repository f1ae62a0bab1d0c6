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

# A command that only prints, or that is refused, connects to nothing.
CONNECTED = (
    "http.client",
    "ssl",
    "email",
    "socket",
    "logging",
    "inspect",
    "asyncio",
    "importlib.metadata",
    "torch",
)
COMMAND = """
import json, sys
sys.path.insert(0, sys.argv[1])
from trainyard._command import main
code = main(sys.argv[2:])
sys.stderr.write("\\n" + json.dumps([code, sorted(sys.modules)]))
"""


class Start(unittest.TestCase):
    def test_importing_trainyard_imports_no_slow_module(self):
        # Python starts without the site's start files, which may import any module.
        command = [sys.executable, "-I", "-S", "-c", SCRIPT, SOURCE]
        loaded = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        self.assertIn("trainyard", loaded)
        self.assertEqual([module for module in loaded if module in LATE], [])

    def test_the_program_trainyard_imports_nothing_to_connect_with_at_its_start(self):
        for line, expected in ((["--version"], 0), (["experiment", "describe"], 2)):
            command = [sys.executable, "-I", "-S", "-c", COMMAND, SOURCE, *line]
            done = subprocess.run(command, capture_output=True, check=True)
            code, loaded = json.loads(done.stderr.splitlines()[-1])
            self.assertEqual(code, expected)
            self.assertIn("trainyard._command", loaded)
            self.assertEqual([module for module in loaded if module in CONNECTED], [])


if __name__ == "__main__":
    unittest.main()
