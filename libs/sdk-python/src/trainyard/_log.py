"""The logger ``trainyard``.

The module ``logging`` is imported at the first message, since every import delays the script's start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logging import Logger


def debug(message: str, *arguments: object) -> None:
    _logger().debug(message, *arguments)


def info(message: str, *arguments: object) -> None:
    _logger().info(message, *arguments)


def warning(message: str, *arguments: object) -> None:
    logger = _logger()
    # A script without handlers of its own prints the bare text, which would look like a line of the script.
    logger.warning(message if logger.hasHandlers() else "trainyard WARNING: " + message, *arguments)


def exception(message: str, *arguments: object) -> None:
    """Logs an error with the traceback of the exception that is being handled."""
    _logger().exception(message, *arguments)


def _logger() -> Logger:
    from logging import getLogger

    return getLogger("trainyard")
