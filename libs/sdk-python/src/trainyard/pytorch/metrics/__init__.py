"""Combines the metrics of ``trainyard.pytorch``: from the values of each batch on each rank to the reported
values.

Every rank must call these functions at the same point, and gets the same result.
"""

from ._average import average_training_metrics, reduce_validation_metrics
from ._reducer import MetricReducer, Reducer
from ._reducers import MetricReducers, join_metrics
from ._values import metrics_of, training_metrics_of

__all__ = [
    "MetricReducer",
    "MetricReducers",
    "Reducer",
    "average_training_metrics",
    "join_metrics",
    "metrics_of",
    "reduce_validation_metrics",
    "training_metrics_of",
]
