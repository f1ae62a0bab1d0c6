"""Errors that the SDK raises. None of them is caused by a network outage alone."""

from __future__ import annotations


class TrainyardError(Exception):
    """The platform refused a request permanently."""


class CheckpointError(TrainyardError):
    """A checkpoint could not be stored or read, and a retry would not help."""


class RunSupersededError(CheckpointError):
    """A later run of this trial was requested: the platform ignores everything that this run sends."""


class InvalidHP(TrainyardError):
    """Raised by a script whose hyperparameters cannot work. The trial ends without a restart, and the search
    replaces it.
    """


class NotInTaskError(TrainyardError):
    """The environment of a task is incomplete, so the process can run neither as a task nor in local mode."""


class DistributedError(TrainyardError):
    """The processes of the run cannot continue together: one has ended, or does not belong to the run."""
