"""The package builds without leaving anything in the checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).parents[2]


class Build(unittest.TestCase):
    def test_building_a_wheel_leaves_no_files_and_contains_no_removed_module(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, "package")
            caches = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
            for name in ("src", "build_backend"):
                shutil.copytree(PACKAGE / name, copy / name, ignore=caches)
            for name in ("pyproject.toml", "README.md"):
                shutil.copy(PACKAGE / name, copy)
            added = copy / "src/trainyard/added_later.py"
            added.write_text("")
            self.assertIn("trainyard/added_later.py", self.files_of_wheel(copy, folder))
            added.unlink()
            before = sorted(path.relative_to(copy) for path in copy.rglob("*"))
            self.assertNotIn("trainyard/added_later.py", self.files_of_wheel(copy, folder))
            after = sorted(path.relative_to(copy) for path in copy.rglob("*"))
            self.assertEqual(after, before)

    def files_of_wheel(self, package, folder):
        """Builds like pip, with the setuptools of this environment, and returns the wheel's files."""
        code = (
            "import sys; sys.path.insert(0, 'build_backend'); sys.dont_write_bytecode = True; "
            f"import clean_build; clean_build.build_wheel({folder!r})"
        )
        subprocess.run(
            [sys.executable, "-B", "-c", code], cwd=package, check=True, capture_output=True
        )
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            return archive.namelist()


if __name__ == "__main__":
    unittest.main()
