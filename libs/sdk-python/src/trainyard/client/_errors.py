"""Errors that the client raises on purpose."""

from __future__ import annotations

from ..errors import TrainyardError


class ApiError(TrainyardError):
    """The platform refused a request. ``status`` is the HTTP status, ``code`` a name that stays the same
    forever; the text is for people.
    """

    def __init__(self, status: int, code: str, detail: str) -> None:
        self.status = status
        self.code = code
        super().__init__(detail)


class NotFoundError(ApiError):
    """There is no model, version, alias, metric or checkpoint of this name."""


class PlatformAwayError(TrainyardError):
    """The platform has not answered, or could not answer now, in the time that the client waits."""


class UploadError(TrainyardError):
    """A folder could not be uploaded. No version was registered of it."""


class DownloadError(TrainyardError):
    """A download differs from what the platform has recorded of it. Nothing was kept."""
