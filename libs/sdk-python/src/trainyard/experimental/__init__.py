"""Has no counterpart of Determined's Python client: importing it raises an error with the replacement."""

from .._missing_names import missing_module

raise missing_module("experimental")
