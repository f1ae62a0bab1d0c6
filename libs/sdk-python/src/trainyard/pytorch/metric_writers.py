"""``determined.pytorch.metric_writers`` has no counterpart: importing this module raises an error with the
replacement.
"""

from ._missing_names import missing_module

raise missing_module("metric_writers")
