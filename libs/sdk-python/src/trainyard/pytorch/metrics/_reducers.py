"""The reducers that a trial has registered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, NamedTuple, TypeVar, overload

import torch

from ..._distributed import Ranks
from ._reducer import FunctionReducer, MetricReducer

AReducer = TypeVar("AReducer", bound=MetricReducer)


class _Registered(NamedTuple):
    reducer: MetricReducer
    name: str | None
    for_training: bool
    for_validation: bool

    def serves(self, for_training: bool) -> bool:
        return self.for_training if for_training else self.for_validation

    def __str__(self) -> str:
        named = f" named {self.name!r}" if self.name is not None else ""
        if isinstance(self.reducer, FunctionReducer):
            function = self.reducer.function
            return f"the reducer {getattr(function, '__name__', type(function).__name__)}(){named}"
        return f"the reducer {type(self.reducer).__name__}{named}"


class MetricReducers:
    """The reducers that were registered by a context's ``wrap_reducer``. One gathering combines the values of all
    reducers and ranks.
    """

    def __init__(self, distributed: Ranks) -> None:
        self._distributed = distributed
        self._registered: list[_Registered] = []

    @overload
    def wrap_reducer(
        self,
        reducer: AReducer,
        name: str | None = None,
        for_training: bool = True,
        for_validation: bool = True,
    ) -> AReducer: ...

    @overload
    def wrap_reducer(
        self,
        reducer: Callable[[list[Any]], Any],
        name: str | None = None,
        for_training: bool = True,
        for_validation: bool = True,
    ) -> FunctionReducer: ...

    def wrap_reducer(
        self,
        reducer: MetricReducer | Callable[[list[Any]], Any],
        name: str | None = None,
        for_training: bool = True,
        for_validation: bool = True,
    ) -> MetricReducer:
        """Registers a reducer and returns it. A function becomes a reducer with ``update(value)``, and is called
        with the list of the values of all ranks. ``name`` is the name of the metric; without a name, the reducer's
        result is a dict of metrics.
        """
        if any(registered.reducer is reducer for registered in self._registered):
            raise ValueError(
                f"wrap_reducer was called twice with the same {type(reducer).__name__}: make one "
                "for each metric"
            )
        if name is not None and any(registered.name == name for registered in self._registered):
            raise ValueError(
                f"wrap_reducer was called twice with the name {name!r}: give each metric its own"
            )
        if isinstance(reducer, type) or not (
            isinstance(reducer, MetricReducer) or callable(reducer)
        ):
            raise TypeError(
                f"wrap_reducer takes a function or an object of a subclass of MetricReducer, not "
                f"{reducer!r}"
            )
        wrapped = reducer if isinstance(reducer, MetricReducer) else FunctionReducer(reducer)
        self._registered.append(_Registered(wrapped, name, for_training, for_validation))
        return wrapped

    @property
    def reducers(self) -> list[MetricReducer]:
        """The registered reducers, in the order of registration."""
        return [registered.reducer for registered in self._registered]

    def reset_reducers(self) -> None:
        """Resets every reducer."""
        for registered in self._registered:
            _called(registered, "reset")

    def reduce_metrics(self, for_training: bool) -> dict[str, Any]:
        """The metrics of the reducers for training, or for validation. Every rank must call this."""
        serving = [registered for registered in self._registered if registered.serves(for_training)]
        if not serving:
            return {}
        own = [_called(registered, "per_slot_reduce") for registered in serving]
        slots = self._distributed.allgather(own) if self._distributed.size > 1 else [own]
        metrics: dict[str, Any] = {}
        for registered, values in zip(serving, zip(*slots)):
            named = _named(registered, _called(registered, "cross_slot_reduce", list(values)))
            metrics = join_metrics(metrics, named, "cross_slot_reduce")
        return metrics


def join_metrics(
    metrics: Mapping[str, Any], reduced: Mapping[str, Any], method: str
) -> dict[str, Any]:
    """Combines the metrics of ``method`` and of the reducers. Raises ValueError if both have a metric of one name."""
    twice = sorted(set(metrics) & set(reduced))
    if twice:
        raise ValueError(
            f"{method} and a reducer both give the metric {twice[0]!r}: name the reducer's metric "
            "otherwise in wrap_reducer"
        )
    return {**metrics, **reduced}


def _called(registered: _Registered, method: str, *arguments: Any) -> Any:
    try:
        return getattr(registered.reducer, method)(*arguments)
    except Exception as error:
        raise RuntimeError(
            f"{registered} failed in {method}: {type(error).__name__}: {error}"
        ) from error


def _named(registered: _Registered, result: Any) -> Mapping[str, Any]:
    if registered.name is None:
        if not isinstance(result, Mapping):
            raise TypeError(
                f"{registered} returned a {type(result).__name__}: return a dict of metrics by name, or "
                "give wrap_reducer a name for the one metric"
            )
        return {name: _plain(value) for name, value in result.items()}
    if isinstance(result, Mapping):
        raise TypeError(
            f"{registered} returned a dict: return one value, or give wrap_reducer no name"
        )
    return {registered.name: _plain(result)}


def _plain(value: Any) -> Any:
    """The number in a tensor or array of one element; any other value unchanged."""
    size = value.numel() if isinstance(value, torch.Tensor) else getattr(value, "size", None)
    return value.item() if size == 1 and callable(getattr(value, "item", None)) else value
