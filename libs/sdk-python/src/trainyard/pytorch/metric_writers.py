"""``determined.pytorch.metric_writers`` has no counterpart: importing this says what takes its place."""

from ._missing_names import missing_module

raise missing_module("metric_writers")
