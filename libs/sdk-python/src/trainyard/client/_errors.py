"""Errors that the client raises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .._code import CodeError as CodeError
from ..errors import TrainyardError


class RequestProblem(NamedTuple):
    """One problem of a request: the path of a configuration key, such as ``searcher.metric``, and a sentence."""

    path: str
    detail: str


class ApiError(TrainyardError):
    """The platform refused a request. ``status`` is the HTTP status, ``code`` a stable name, and the text is for
    people. ``problems`` lists each problem if there may be several, as in a configuration; the text contains them
    all. ``retry_after_s`` is the wait in seconds that the platform asked for; None if it asked for none.
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        problems: Sequence[RequestProblem] = (),
        retry_after_s: float | None = None,
    ) -> None:
        self.status = status
        self.code = code
        self.problems = list(problems)
        self.retry_after_s = retry_after_s
        super().__init__(detail)


class NotFoundError(ApiError):
    """A model, version, alias, metric or checkpoint of this name does not exist."""


class PlatformAwayError(TrainyardError):
    """The platform was unavailable for longer than the client waits."""


class UploadError(TrainyardError):
    """A folder could not be uploaded. No version was registered."""


class DownloadError(TrainyardError):
    """A download differs from the platform's record of it. The downloaded files were removed."""
