"""The logger ``trainyard``. The module ``logging`` is loaded when there is something to say, since a
script's start waits for every module that this package loads.
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
    _logger().warning(message, *arguments)


def exception(message: str, *arguments: object) -> None:
    """With the traceback of the exception that is being handled."""
    _logger().exception(message, *arguments)


def _logger() -> Logger:
    from logging import getLogger

    return getLogger("trainyard")
