"""Determined's Keras integration has no counterpart: importing this says what to use."""

from ._absent import absent_module

raise absent_module("keras")
