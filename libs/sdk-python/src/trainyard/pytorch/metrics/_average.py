"""Averages over batches and ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._distributed import Ranks
from ._reducer import Reducer
from ._values import columns_of, total

METHOD = "evaluation_reducer"


def average_training_metrics(
    distributed: Ranks, per_batch: list[dict[str, Any]]
) -> dict[str, float]:
    """The mean of each metric over the batches of all ranks. ``per_batch`` has the results of ``metrics_of`` for
    this rank's batches. A metric is averaged over the batches and ranks that have it. Every rank must call this
    function, which gathers once.
    """
    own = {name: list(column.values()) for name, column in columns_of(per_batch).items()}
    sums = {name: (total(values), len(values)) for name, values in own.items()}
    return {
        name: _quotient(total([part for part, _ in parts]), sum(count for _, count in parts))
        for name, parts in _by_name(_all(distributed, sums)).items()
    }


def reduce_validation_metrics(
    distributed: Ranks,
    per_batch: list[dict[str, Any]],
    records: Sequence[int],
    reducer: Reducer | Mapping[str, Reducer] = Reducer.AVG,
) -> dict[str, float]:
    """Each metric of a validation, over all batches of all ranks. ``records`` are the numbers of samples of the
    batches in ``per_batch``: AVG uses them as weights, so that the result is the mean over samples for any
    division into batches and ranks. A rank may have no batches. ``reducer`` is the result of
    ``evaluation_reducer()``: one for all metrics, or a dict from names. Every rank must call this function, which
    gathers once.
    """
    if len(records) != len(per_batch):
        raise ValueError(
            f"reduce_validation_metrics: {len(records)} numbers of records for {len(per_batch)} "
            "batches"
        )
    own = {
        name: _reduced_here(name, column, records, _reducer_for(name, reducer))
        for name, column in columns_of(per_batch).items()
    }
    return {
        name: _reduced_across(parts, _reducer_for(name, reducer))
        for name, parts in _by_name(_all(distributed, own)).items()
    }


def _reduced_here(
    name: str, column: dict[int, float], records: Sequence[int], reducer: Reducer
) -> tuple[float, float]:
    """The rank's value, and its weight for an average."""
    values = list(column.values())
    if reducer is Reducer.AVG:
        weights = [records[place] for place in column]
        if min(weights) < 0:
            raise ValueError(
                f"get_batch_length returned {min(weights)} for a batch with the metric {name!r}: "
                "return its number of samples"
            )
        weighted = [value * weight for value, weight in zip(values, weights) if weight > 0]
        return total(weighted), sum(weights)
    return _fold(values, reducer), len(values)


def _reduced_across(parts: list[tuple[float, float]], reducer: Reducer) -> float:
    if reducer is Reducer.AVG:
        return _quotient(total([part for part, _ in parts]), sum(weight for _, weight in parts))
    return _fold([part for part, _ in parts], reducer)


def _fold(values: list[float], reducer: Reducer) -> float:
    if reducer is Reducer.SUM:
        return total(values)
    # A NaN must stay a NaN: max and min would drop it, depending on its position.
    strange = [value for value in values if value != value]
    if strange:
        return strange[0]
    return max(values) if reducer is Reducer.MAX else min(values)


def _reducer_for(name: str, reducer: Reducer | Mapping[str, Reducer]) -> Reducer:
    chosen = reducer.get(name) if isinstance(reducer, Mapping) else reducer
    if chosen is None:
        raise ValueError(
            f"{METHOD} returned no reducer for the metric {name!r}: add it to the dict, or return "
            "one Reducer for all"
        )
    if not isinstance(chosen, Reducer):
        raise TypeError(
            f"{METHOD} returned {chosen!r} for the metric {name!r}: return one of Reducer.AVG, SUM, "
            "MAX and MIN"
        )
    return chosen


def _all(distributed: Ranks, value: object) -> list[Any]:
    return distributed.allgather(value) if distributed.size > 1 else [value]


def _by_name(ranks: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """The ranks' parts of each metric, in the order of the ranks that have it."""
    columns: dict[str, list[Any]] = {}
    for parts in ranks:
        for name, part in parts.items():
            columns.setdefault(name, []).append(part)
    return columns


def _quotient(value: float, weight: float) -> float:
    return value / weight if weight else float("nan")
