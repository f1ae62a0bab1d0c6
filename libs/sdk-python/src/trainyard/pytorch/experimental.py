"""``determined.pytorch.experimental`` has no counterpart here: importing this module raises an error with the
replacement.
"""

from ._missing_names import missing_module

raise missing_module("experimental")
