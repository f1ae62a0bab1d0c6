"""Custom searches: an external process decides which trials an experiment runs.

from trainyard.search import Create, Close, SearchMethod, SearchRunner, Shutdown, ValidateAfter

class Halves(SearchMethod):
    def initial_operations(self, state):
        return [...]

SearchRunner(Halves()).run("search.yaml", "model", key="halves-1")

The interface resembles Determined's custom searchers. The method saves nothing: the platform records every
operation as an event. A restarted runner replays the whole history, so that the method reaches the same state and
decides the same.
"""

from ._errors import (
    NotDeterministicError,
    OperationRefusedError,
    RequestRefusedError,
    SearchError,
)
from ._exits import ExitedReason
from ._method import SearchMethod
from ._operations import (
    Close,
    Create,
    Operation,
    Progress,
    Resume,
    Shutdown,
    Suspend,
    ValidateAfter,
)
from ._runner import SearchResult, SearchRunner
from ._state import SearcherState, TrialInfo

__all__ = [
    "Close",
    "Create",
    "ExitedReason",
    "NotDeterministicError",
    "Operation",
    "OperationRefusedError",
    "Progress",
    "RequestRefusedError",
    "Resume",
    "SearchError",
    "SearchMethod",
    "SearchResult",
    "SearchRunner",
    "SearcherState",
    "Shutdown",
    "Suspend",
    "TrialInfo",
    "ValidateAfter",
]
