"""The words for states in tables and fields, as ``yard`` has them; the JSON output has the API's names."""

from __future__ import annotations

_WORDS = {
    "STOPPING_COMPLETED": "STOPPING",
    "STOPPING_CANCELED": "CANCELING",
    "STOPPING_KILLED": "KILLING",
    "CONDEMNED": "TO BE DELETED",
    "PARTIALLY_DELETED": "PARTLY DELETED",
}


def state_word(state: object) -> str:
    return _WORDS.get(str(state), str(state))
