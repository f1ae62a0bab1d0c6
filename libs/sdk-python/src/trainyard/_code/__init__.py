"""Training code and its configuration, in the form in which they are submitted."""

from ._pack import STARTUP_HOOK, CodeError, PackedCode, packed
from ._repository import repository_of
from ._text import Config, config_text

__all__ = [
    "STARTUP_HOOK",
    "CodeError",
    "Config",
    "PackedCode",
    "config_text",
    "packed",
    "repository_of",
]
