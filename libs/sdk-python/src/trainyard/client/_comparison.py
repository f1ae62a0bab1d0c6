"""Trials of any experiments beside each other, and the metrics that they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ._api import Api
from ._shown import Listing, text_of
from ._trials import Trial


class SharedMetric(NamedTuple):
    """A metric, with the number of the compared trials that have reported it."""

    group: str
    name: str
    trials: int


class Comparison(NamedTuple):
    """The compared trials in the order of their sources, and their metrics, those of the most trials first. ``gone``
    has the sources and trials that name nothing, with the reason.
    """

    trials: Listing[Trial]
    metrics: list[SharedMetric]
    gone: dict[str, str]


def compare(api: Api, sources: Sequence[str]) -> Comparison:
    answer = api.get("/api/v1/trials:compare", [("sources", source) for source in sources])
    return Comparison(
        Listing(Trial(api, item) for item in answer.get("trials") or []),
        [
            SharedMetric(text_of(item, "group"), text_of(item, "name"), int(item["trials"]))
            for item in answer.get("metrics") or []
        ],
        {text_of(item, "source"): text_of(item, "reason") for item in answer.get("gone") or []},
    )
