from __future__ import annotations

import io
import tarfile
import tempfile
import unittest
from pathlib import Path

from trainyard._code import packed
from trainyard._code._ignored import Rules


class Packing(unittest.TestCase):
    def test_the_same_files_are_packed_to_the_same_bytes(self) -> None:
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            for folder in (one, other):
                Path(folder, "inner").mkdir()
                Path(folder, "inner", "b.py").write_text("b")
                Path(folder, "a.py").write_text("a")
                Path(folder, "__pycache__").mkdir()
                Path(folder, "__pycache__", "a.pyc").write_text(folder)
            self.assertEqual(packed(one).content, packed(other).content)
            with self.assertRaisesRegex(ValueError, "not a folder"):
                packed(Path(one, "a.py"))

    def test_ignored_files_are_not_packed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name in (
                "a.py",
                "a.bin",
                "keep.bin",
                "data/x.csv",
                "src/data/y.py",
                "__pycache__/z",
            ):
                Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
                Path(folder, name).write_text(name)
            Path(folder, ".trainyardignore").write_text("# large\n*.bin\n!keep.bin\n/data/\n")
            with tarfile.open(fileobj=io.BytesIO(packed(folder).content)) as tar:
                names = tar.getnames()
        self.assertEqual([".trainyardignore", "a.py", "keep.bin", "src/data/y.py"], names)

    def test_ignore_patterns_match_like_those_of_git(self) -> None:
        for pattern, path, out in (
            ("*.log", "deep/in/a.log", True),
            ("*.log", "a.log.txt", False),
            ("logs", "x/logs", True),
            ("/logs", "x/logs", False),
            ("x/*.py", "x/a.py", True),
            ("x/*.py", "x/y/a.py", False),
            ("x/**/a.py", "x/a.py", True),
            ("x/**/a.py", "x/y/z/a.py", True),
            ("**/a.py", "x/a.py", True),
            ("x/**", "x/y/a.py", True),
            ("x/**", "x", False),
            ("a?c", "abc", True),
            ("a?c", "a/c", False),
            ("a[0-9]", "a7", True),
            ("a[!0-9]", "a7", False),
            ("\\#a", "#a", True),
            ("a b ", "a b", True),
            ("build/", "build", False),
        ):
            with self.subTest(pattern=pattern, path=path):
                self.assertEqual(out, Rules([pattern]).leave_out(path, False))
        self.assertTrue(Rules(["build/"]).leave_out("x/build", True))


if __name__ == "__main__":
    unittest.main()
