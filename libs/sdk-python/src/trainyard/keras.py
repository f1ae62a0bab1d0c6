"""Has no counterpart of Determined's Keras integration: importing it raises an error with the replacement."""

from ._missing_names import missing_module

raise missing_module("keras")
