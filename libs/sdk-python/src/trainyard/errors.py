"""Errors that the SDK raises on purpose. Nothing here is raised because a network is down."""

from __future__ import annotations


class TrainyardError(Exception):
    """The platform refused, for a reason that waiting does not change."""


class CheckpointError(TrainyardError):
    """A checkpoint could not be stored or read, and trying again would not help."""


class RunSupersededError(CheckpointError):
    """A later run of this trial has been asked for: nothing that this run sends counts any more."""


class InvalidHP(TrainyardError):
    """Raised by a script: these hyperparameters cannot work. The trial ends without a restart, and the
    search replaces it.
    """


class NotInTaskError(TrainyardError):
    """The environment of a task is incomplete, so neither that nor local mode is meant."""


class DistributedError(TrainyardError):
    """The processes of the run cannot continue together: one is gone, or does not fit."""
