"""``determined.launch.tensorflow`` has no counterpart: running or importing this module raises an error with the
replacement.
"""

from .._missing_names import LAUNCH, missing_module_of

raise missing_module_of("trainyard.launch", "tensorflow", LAUNCH)
