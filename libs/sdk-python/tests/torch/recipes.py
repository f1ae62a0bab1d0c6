"""Random trainings: a recipe is a dict of plain values, drawn from a seed. It defines a trial, its data, its
periods and the points at which its processes are killed.
"""

from __future__ import annotations

import random
from typing import Any

BATCHES = 22
OPTIMIZERS = (
    "sgd", "nesterov", "adam", "fused", "amsgrad", "rmsprop", "adagrad", "nadam", "radam", "adadelta",
    "asgd", "rprop", "lbfgs",
)  # fmt: skip
SCHEDULERS = (
    "step",
    "cosine",
    "one-cycle",
    "plateau",
    "sequential",
    "chained",
    "lambda",
    "cyclic",
    "warm",
)
NETS = ("dropout", "batch-norm", "recurrent", "tied", "spectral", "weight-norm", "convolution")
SAMPLING = (
    "plain", "shuffle", "weighted", "replacement", "generator", "batch-sampler", "tuples", "whole",
    "together", "tensors", "stream", "drawing-stream", "endless", "torch",
)  # fmt: skip
EVENTS = ("batch", "stepped", "evaluating", "reported", "copied", "writing", "completing", "stored")


def recipe_of(seed: int) -> dict[str, Any]:
    """Draws the recipe of a seed."""
    draw = random.Random(seed)
    count = draw.choice((1, 1, 2, 3))
    data = _data(draw)
    fit = _fit(draw, data["sampling"] != "endless")
    by_clock = (fit["validation_period"] or ("",))[0] == "Second"
    parts = [_part(draw, by_clock) for _ in range(count)]
    return {
        "seed": seed,
        # LBFGS computes the loss as often as its value requires: ranks with different losses would differ, but all
        # must make the same calls.
        "ranks": 1
        if any(part["optimizer"] == "lbfgs" for part in parts)
        else draw.choice((1, 1, 2)),
        "parts": parts,
        "frequency": draw.choice((1, 1, 1, 2, 3, 5)),
        "precision": draw.choice((None, None, "amp", "scaler")),
        "clip": draw.choice((None, 0.1, 1.0)),
        "zero": draw.random() < 0.8,
        "chance": draw.choice(("", "python", "numpy", "torch", "python numpy torch")),
        "average": draw.random() < 0.3,
        "reducer": draw.choice((None, None, "function", "class")),
        "hook": draw.random() < 0.2,
        "data": data,
        "fit": fit,
        "kills": _kills(draw),
    }


def _part(draw: random.Random, by_clock: bool) -> dict[str, Any]:
    """Draws a model with its optimizer and perhaps a scheduler."""
    # A scheduler that uses the validation's metric would make the result depend on the times of validations.
    schedulers = [kind for kind in SCHEDULERS if kind != "plateau" or not by_clock]
    found = {
        "net": draw.choice(NETS),
        "optimizer": draw.choice(OPTIMIZERS),
        "groups": draw.choice((1, 1, 2)),
        "scheduler": draw.choice((None, *schedulers)),
        "mode": draw.choice(("STEP_EVERY_BATCH", "STEP_EVERY_OPTIMIZER_STEP", "STEP_EVERY_EPOCH")),
        "every": draw.choice((1, 1, 2, 3)),
    }
    if found["scheduler"] == "plateau":
        found["mode"] = "MANUAL_STEP"
    return found


def _data(draw: random.Random) -> dict[str, Any]:
    sampling = draw.choice(SAMPLING)
    streams = sampling in ("stream", "drawing-stream", "endless")
    return {
        "sampling": sampling,
        "size": draw.choice((19, 20, 26, 37)),
        "batch": draw.choice((1, 3, 4, 5)),
        "drop": draw.random() < 0.4,
        "workers": draw.choice((0, 0, 1) if streams else (0, 0, 1, 2)),
        "item": draw.choice(("", "python", "numpy", "torch")),
        "collate": draw.choice(("", "", "python", "numpy", "torch")),
    }


def _fit(draw: random.Random, has_epochs: bool) -> dict[str, Any]:
    batches, seconds = ("Batch", 6), ("Second", 6)
    if has_epochs:
        batches = draw.choice((batches, ("Epoch", 2)))
    kinds = (batches, batches, batches, seconds)

    def period(*others: Any) -> Any:
        kind, most = draw.choice(kinds)
        return draw.choice((*others, (kind, draw.randint(1, most)), (kind, draw.randint(1, most))))

    return {
        "reporting_period": period(),
        "validation_period": period(None),
        "checkpoint_period": draw.choice((("Batch", 1), ("Batch", draw.randint(2, 5)), period())),
        "checkpoint_policy": draw.choice(("none", "best", "all")),
        "step_zero_validation": draw.random() < 0.2,
    }


def _kills(draw: random.Random) -> list[Any]:
    """Draws the ranks to kill: ``(rank, event, occurrences before the kill)``."""
    kills = []
    for _ in range(draw.choice((1, 1, 2, 3))):
        event = draw.choice(EVENTS)
        rare = event in ("reported", "copied", "writing", "completing", "stored")
        kills.append((draw.randrange(2), event, draw.randrange(5 if rare else BATCHES)))
    return kills


def is_timed(recipe: dict[str, Any]) -> bool:
    """Whether a period is in seconds, which start over with each process."""
    return any(isinstance(unit, tuple) and unit[0] == "Second" for unit in recipe["fit"].values())
