"""The reasons why a trial ended without being trained."""

from __future__ import annotations

import enum


class ExitedReason(enum.Enum):
    """The reason why a trial ended without being trained."""

    ERRORED = "errored"
    USER_CANCELED = "user_canceled"
    INVALID_HP = "invalid_hp"
