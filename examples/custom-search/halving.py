"""Successive halving as a custom search: nine networks train for 10 epochs, the best three continue
to 30, the best of these to 90.

TRAINYARD_URL=… TRAINYARD_TOKEN=… python3 examples/custom-search/halving.py [KEY [CONFIG MODEL_DIR]]

The script may be killed at any time: the same call with the same KEY resumes the search.
"""

import importlib.util
import logging
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent

if importlib.util.find_spec("trainyard") is None:
    # This script runs in a checkout without an installed SDK.
    sys.path.append(str(HERE.parents[1] / "libs" / "sdk-python" / "src"))

from trainyard.search import (
    Close,
    Create,
    ExitedReason,
    Operation,
    SearcherState,
    SearchMethod,
    SearchRunner,
    Shutdown,
    ValidateAfter,
)

TRIALS = 9
RUNGS = [10, 30, 90]
KEEP_ONE_IN = 3


class SuccessiveHalving(SearchMethod):
    """Once all trials of a rung have reported, the best continue to the next; the others stop."""

    def __init__(self) -> None:
        self.rung = 0
        self.waited_for: list[str] = []
        self.losses: dict[str, float] = {}

    def initial_operations(self, state: SearcherState) -> list[Operation]:
        operations: list[Operation] = []
        for _ in range(TRIALS):
            name = state.new_request_id()
            self.waited_for.append(name)
            operations.append(Create(name, drawn(state.space, state.random)))
            operations.append(ValidateAfter(name, RUNGS[0]))
        return operations

    def on_validation_completed(
        self, state: SearcherState, request_id: Any, metric: float, train_length: float
    ) -> list[Operation]:
        self.losses[request_id] = metric
        return self.next_rung()

    def on_trial_exited_early(
        self, state: SearcherState, request_id: Any, exited_reason: ExitedReason
    ) -> list[Operation]:
        self.losses[request_id] = float("inf")
        return self.next_rung()

    def next_rung(self) -> list[Operation]:
        if any(name not in self.losses for name in self.waited_for):
            return []
        # A loss that is not a number ranks last; of equal losses the earlier trial ranks first.
        ranked = sorted(self.waited_for, key=lambda name: finite(self.losses[name]))
        self.rung += 1
        if self.rung == len(RUNGS):
            return [Shutdown()]
        kept = ranked[: max(1, len(ranked) // KEEP_ONE_IN)]
        self.waited_for, self.losses = kept, {}
        closed = [Close(name, f"not among the best {len(kept)}") for name in ranked[len(kept) :]]
        return [*closed, *(ValidateAfter(name, RUNGS[self.rung]) for name in kept)]


def finite(loss: float) -> float:
    return loss if loss == loss else float("inf")


def drawn(space: Any, random: Any) -> dict[str, Any]:
    """Draws a random point of the search space; constants may be left out."""
    point: dict[str, Any] = {}
    for name, one in sorted(space.items()):
        if one["type"] == "categorical":
            point[name] = random.choice(one["vals"])
        elif one["type"] == "int":
            point[name] = random.randint(one["minval"], one["maxval"])
        elif one["type"] == "double":
            point[name] = random.uniform(one["minval"], one["maxval"])
        elif one["type"] == "log":
            point[name] = one["base"] ** random.uniform(one["minval"], one["maxval"])
    return point


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    arguments = [*sys.argv[1:], *[None] * 3]
    key, config, model = arguments[0], arguments[1], arguments[2]
    result = SearchRunner(SuccessiveHalving()).run(
        config or HERE / "search.yaml", model or HERE.parent / "iris", key
    )
    print(f"experiment {result.experiment}: {result.reason}, best loss {result.best_value}")
