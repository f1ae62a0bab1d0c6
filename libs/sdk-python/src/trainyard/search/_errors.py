"""Errors that a search's client raises. None of them is caused by a network outage alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import TrainyardError


class SearchError(TrainyardError):
    """The search cannot continue as the method requests."""


class RequestRefusedError(SearchError):
    """The platform refused a request. ``code`` is a stable name, and the text is for people. ``problems`` are
    pairs of a path in the request and a sentence.
    """

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        self.status = status
        self.code = str(body.get("code") or status)
        errors = body.get("errors")
        self.problems: Sequence[tuple[str, str]] = [
            (str(one.get("path", "")), str(one.get("detail", "")))
            for one in (errors if isinstance(errors, list) else [])
            if isinstance(one, dict)
        ]
        detail = str(body.get("detail") or body.get("title") or f"HTTP {status}")
        more = [f"{path} {text}".strip() for path, text in self.problems if text not in detail]
        super().__init__("; ".join([f"{self.code}: {detail}", *more]))

    def names(self, path: str) -> bool:
        """Whether a problem is at this path, or below it."""
        return any(at == path or at.startswith(f"{path}.") for at, _ in self.problems)


class OperationRefusedError(RequestRefusedError):
    """An operation is invalid: the text names it, its trial and the reason. No operation of the same request was
    recorded.
    """


class NotDeterministicError(SearchError):
    """The method returned other operations than before for the same history. A method must decide from the events
    alone, with ``state.random`` as its source of randomness.
    """
