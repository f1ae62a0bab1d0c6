"""The words for states in tables and fields, as ``yard`` has them; the JSON output has the API's names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_WORDS = {
    "STOPPING_COMPLETED": "STOPPING",
    "STOPPING_CANCELED": "CANCELING",
    "STOPPING_KILLED": "KILLING",
    "CONDEMNED": "TO BE DELETED",
    "PARTIALLY_DELETED": "PARTLY DELETED",
}


def state_word(state: object) -> str:
    return _WORDS.get(str(state), str(state))


def phase_word(message: Mapping[str, Any]) -> str:
    """The words for what an experiment or a trial does; of a platform that does not say it, for its state."""
    return str(message.get("phase") or "").upper() or state_word(message.get("state"))
