"""Describes how far an experiment or a trial is, in the words of ``yard``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..client._progress import Progress, duration_text, left_text, percent_text


def progress_fields(message: Mapping[str, Any]) -> list[tuple[str, str]]:
    shown = Progress(message)
    left = left_text(shown.left_s)
    return [
        ("progress", percent_text(shown.progress) + (f", about {left} left" if left else "")),
        ("time", f"{duration_text(shown.elapsed_s or 0)}, ran {duration_text(shown.ran_s)}"),
        ("warning", shown.metric_warning),
    ]
