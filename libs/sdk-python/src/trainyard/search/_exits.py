"""How a trial ends that is not trained."""

from __future__ import annotations

import enum


class ExitedReason(enum.Enum):
    """Why a trial ended without having been trained."""

    ERRORED = "errored"
    USER_CANCELED = "user_canceled"
    INVALID_HP = "invalid_hp"
