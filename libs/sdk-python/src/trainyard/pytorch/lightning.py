"""``determined.pytorch.lightning`` has no counterpart here: importing this says what takes its place."""

from ._missing_names import missing_module

raise missing_module("lightning")
