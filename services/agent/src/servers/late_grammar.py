"""Puts off the compilation of a grammar that takes half of the start of JupyterLab's server.

`rfc3987_syntax` compiles its grammar when it is imported. jsonschema imports it, and needs it to check values whose
format is "iri" or "iri-reference", which few values of a server have. So another module has its name until it is used.
"""

import importlib
import sys
import types
from importlib.util import find_spec

NAME = "rfc3987_syntax"


class Late(types.ModuleType):
    def __getattr__(self, name):
        if sys.modules.get(NAME) is self:
            del sys.modules[NAME]
        return getattr(importlib.import_module(NAME), name)

    # jsonschema takes this function from the module when it is imported itself.
    def is_valid_syntax(self, term, value):
        return self.__getattr__("is_valid_syntax")(term, value)


def put_off():
    """Does nothing without the package: jsonschema then leaves these formats out."""
    found = None if NAME in sys.modules else find_spec(NAME)
    if found is None:
        return
    late = Late(NAME)
    # Programs that go through all modules ask for these, and need no grammar.
    late.__spec__, late.__file__ = found, found.origin
    late.__path__ = list(found.submodule_search_locations or [])
    sys.modules[NAME] = late
