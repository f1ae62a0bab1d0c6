"""``determined.pytorch.lightning`` has no counterpart here: importing this says what takes its place."""

from ._absent import absent_module

raise absent_module("lightning")
