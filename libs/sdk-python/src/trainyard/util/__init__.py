"""``determined.util`` has no counterpart: importing this says what to use."""

from .._missing_names import missing_module

raise missing_module("util")
