"""The names that docs/pytorch-compat.md lists as working exist, with the listed arguments."""

from __future__ import annotations

import ast
import inspect
import os
import re
import tempfile
import unittest
from pathlib import Path

from trainyard import pytorch

DOCUMENT = Path(__file__).parents[4] / "docs" / "pytorch-compat.md"
SECTION = re.compile(r"^## (?:`(pytorch[\w.]*)`)?")
ROW = re.compile(r"^\| `([^`]+)`\s*\|")


def rows():
    """Yields (section, text of the first column) for the sections that list names."""
    section = None
    for line in DOCUMENT.read_text().splitlines():
        heading = SECTION.match(line)
        if heading:
            section = heading[1]
        row = ROW.match(line)
        if row and section:
            yield section, row[1]


def resolve(owner, path):
    for name in path.split("."):
        owner = getattr(owner, name)
    return owner


class Compat(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        os.environ["TRAINYARD_LOCAL_DIR"] = folder.name
        made = pytorch.init(hparams={})
        cls.context = made.__enter__()
        cls.addClassCleanup(made.__exit__, None, None, None)

    def owner_of(self, section):
        if section in ("pytorch", "pytorch.samplers"):
            return pytorch
        if section == "pytorch.PyTorchTrialContext":
            return self.context
        return resolve(pytorch, section[len("pytorch.") :])

    def test_every_documented_name_exists_with_its_arguments(self):
        listed = list(rows())
        self.assertGreater(len(listed), 80)
        for section, text in listed:
            with self.subTest(section=section, name=text):
                name, bracket, arguments = text.partition("(")
                found = resolve(self.owner_of(section), name)
                if bracket:
                    self.assert_takes(found, bracket + arguments)

    def arguments_of(self, written):
        function = ast.parse(f"def stub{written}: pass").body[0]
        assert isinstance(function, ast.FunctionDef)
        return function.args

    def assert_takes(self, found, written):
        """Asserts that the function has the documented arguments, in order and with their defaults."""
        stub = self.arguments_of(written)
        own = list(inspect.signature(found).parameters.values())
        if own and own[0].name == "self":
            own = own[1:]
        names = [argument.arg for argument in stub.args]
        self.assertEqual([parameter.name for parameter in own[: len(names)]], names)
        by_name = {parameter.name: parameter for parameter in own}
        only_by_name = [argument.arg for argument in stub.kwonlyargs]
        self.assertLessEqual(set(only_by_name), set(by_name))
        defaults = {
            **dict(zip(reversed(names), reversed(stub.defaults))),
            **dict(zip(only_by_name, stub.kw_defaults)),
        }
        for name, default in defaults.items():
            told = ast.unparse(default)
            expected = pytorch.Batch(100) if told == "Batch(100)" else ast.literal_eval(told)
            self.assertEqual(by_name[name].default, expected, name)


if __name__ == "__main__":
    unittest.main()
