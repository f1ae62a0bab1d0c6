"""Errors that the client raises on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .._code import CodeError as CodeError
from ..errors import TrainyardError


class RequestProblem(NamedTuple):
    """One thing that is wrong in a request: the path of the key in the configuration, ``searcher.metric`` for example,
    and a sentence.
    """

    path: str
    detail: str


class ApiError(TrainyardError):
    """The platform refused a request. ``status`` is the HTTP status, ``code`` a name that stays the same
    forever; the text is for people. ``problems`` has each thing that is wrong where there may be several, as in a
    configuration; the text names them all.
    """

    def __init__(
        self, status: int, code: str, detail: str, problems: Sequence[RequestProblem] = ()
    ) -> None:
        self.status = status
        self.code = code
        self.problems = list(problems)
        super().__init__(detail)


class NotFoundError(ApiError):
    """There is no model, version, alias, metric or checkpoint of this name."""


class PlatformAwayError(TrainyardError):
    """The platform did not answer, or was unavailable, for as long as the client waits."""


class UploadError(TrainyardError):
    """A folder could not be uploaded. No version was registered of it."""


class DownloadError(TrainyardError):
    """A download differs from what the platform has recorded of it. Nothing was kept."""
