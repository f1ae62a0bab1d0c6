"""Counts the members that Ray Tune's population based training replaces in each interval.

In an interval every member trains once and reports once, one after the other. Which trials are in the lower and the
upper quantile at a report is asked of Ray's own scheduler. The steps around it follow its `on_trial_result`: the score
of a replaced trial stays until its next report, and a trial is copied only if it was in the upper quantile at its own.

The arguments are members, quantile, intervals, arrival and a number of seeds. The answer is a line of JSON: a list of
counts for each seed. The argument `version` prints Ray's version instead.
"""

import json
import random
import sys
from types import SimpleNamespace

import ray  # pyright: ignore[reportMissingImports] — it may be missing
from ray.tune.schedulers import (  # pyright: ignore[reportMissingImports] — it may be missing
    PopulationBasedTraining,
)


class Member:
    """The trial that the scheduler asks."""

    def __init__(self, value):
        self.value = value

    def is_finished(self):
        return False


def replacements(members, quantile, intervals, arrival, seed):
    chance = random.Random(seed)
    scheduler = PopulationBasedTraining(
        time_attr="step",
        metric="loss",
        mode="min",
        perturbation_interval=1,
        quantile_fraction=quantile,
        hyperparam_mutations={"lr": [0.1, 1]},
    )
    population = [Member(chance.random()) for _ in range(members)]
    states = {one: SimpleNamespace(last_score=None, checkpoint=False) for one in population}
    scheduler._trial_state = states  # noqa: SLF001 — no public call asks for the quantiles alone
    counts = []
    for _ in range(intervals):
        for member in population:
            member.value += chance.random() - 0.5
        order = list(population)
        if arrival == "random":
            chance.shuffle(order)
        else:
            order.sort(key=lambda one: one.value, reverse=arrival == "worst_first")
        replaced = 0
        for member in order:
            # A higher score is better.
            states[member].last_score = -member.value
            lower, upper = scheduler._quantiles()  # noqa: SLF001 — as above
            states[member].checkpoint = member in upper
            if member not in lower:
                continue
            donor = chance.choice(upper)
            if states[donor].checkpoint:
                member.value = donor.value
                replaced += 1
        counts.append(replaced)
    return counts


def main():
    if sys.argv[1:] == ["version"]:
        print(json.dumps(ray.__version__))
        return
    members, quantile, intervals, arrival, seeds = sys.argv[1:]
    counts = [
        replacements(int(members), float(quantile), int(intervals), arrival, seed)
        for seed in range(1, int(seeds) + 1)
    ]
    print(json.dumps(counts))


main()
