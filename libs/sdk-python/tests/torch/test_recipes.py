"""A training with random parts that was killed at random points and resumed equals an uninterrupted one: bit for
bit, with each report once. The trainings are drawn from seeds; a failure names the seed. On a machine with a GPU the
trainings of one rank are repeated on it.
``TRAINYARD_RECIPES=first:count`` runs other seeds than the default ones.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import traceback
import unittest

import devices
import torch
from killing import FrameworkCase, in_a_child, in_children, load_ahead
from recipe_trial import train
from recipes import is_timed, recipe_of

FIRST, COUNT = map(int, os.environ.get("TRAINYARD_RECIPES", "0:4").split(":"))


class Recipes(FrameworkCase):
    def run_once(self, recipe, name, kill=None):
        """Runs one process for each rank; returns their exit codes."""
        with devices.gpus_shown() if recipe["gpu"] else contextlib.nullcontext():
            return self.run_ranks(recipe, name, kill)

    def run_ranks(self, recipe, name, kill):
        folder = self.folder / name
        folder.mkdir(exist_ok=True)

        def work():
            with open(self.folder / "said", "a") as said:
                with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                    try:
                        train(recipe, folder, kill)
                    except BaseException:
                        # A rank prints an error about a killed rank, which nothing reads.
                        said.write(traceback.format_exc())
                        said.flush()
                        os._exit(1)

        if recipe["ranks"] == 1:
            return [in_a_child(work)]
        return in_children(recipe["ranks"], work)

    def reports_of(self, name, timed):
        """Returns the metrics by group and step; those of later runs replace earlier ones."""
        found = {}
        runs = sorted((self.folder / name).glob("run-*"), key=lambda run: int(run.name[4:]))
        for run in runs:
            path, seen = run / "spool" / "reports.ndjson", set()
            for line in path.read_text().splitlines() if path.exists() else []:
                report = json.loads(line)
                key = (report["group"], report["stepsCompleted"])
                if key[0] == "progress":
                    continue
                self.assertNotIn(key, seen, f"reported twice in {run.name}")
                seen.add(key)
                found[key] = report["metrics"]
        if not timed:
            return found
        return {key: value for key, value in found.items() if key[0] == "validation"}

    def check(self, recipe):
        """Runs the recipe without and with its kills, and compares the results."""
        timed = is_timed(recipe)
        said = self.folder / "said"
        codes = self.run_once(recipe, "whole")
        self.assertEqual(
            codes, [0] * recipe["ranks"], said.read_text()[-3000:] if any(codes) else ""
        )
        for kill in recipe["kills"]:
            codes = self.run_once(recipe, "killed", kill)
            self.assertTrue(-9 in codes or not any(codes), said.read_text()[-3000:])
        codes = self.run_once(recipe, "killed")
        self.assertEqual(
            codes, [0] * recipe["ranks"], said.read_text()[-3000:] if any(codes) else ""
        )
        whole, killed = self.reports_of("whole", timed), self.reports_of("killed", timed)
        if timed:
            # Reports with a period in seconds occur at different batches, so only common ones are compared.
            both = whole.keys() & killed.keys()
            whole, killed = {key: whole[key] for key in both}, {key: killed[key] for key in both}
        self.assertEqual(json.dumps(whole_of(whole)), json.dumps(whole_of(killed)))
        for rank in range(recipe["ranks"]):
            one, other = (
                torch.load(self.folder / name / f"ended-{rank}.pt", "cpu", weights_only=False)
                for name in ("whole", "killed")
            )
            if timed:
                del one["callbacks"], other["callbacks"]
            self.assertEqual(differences(one, other, f"rank {rank}"), [])

    def test_killed_and_resumed_recipes_equal_uninterrupted_ones(self):
        load_ahead()
        recipes = [{**recipe_of(seed), "gpu": False} for seed in range(FIRST, FIRST + COUNT)]
        if has_gpu():
            recipes += [{**recipe, "gpu": True} for recipe in recipes if suits_a_gpu(recipe)]
        for recipe in recipes:
            with self.subTest(seed=recipe["seed"], recipe=recipe):
                self.check(recipe)
            self.doCleanups()
            self.setUp()
            print(f"recipe {recipe['seed']}", file=sys.stderr)


def suits_a_gpu(recipe):
    """Whether a recipe works on one GPU: ranks need a GPU each, and a scaler without a scaled loss is an error."""
    unscaled = all(part["optimizer"] == "lbfgs" for part in recipe["parts"])
    is_refused = recipe["precision"] == "amp" and unscaled
    return recipe["ranks"] == 1 and not is_refused


def has_gpu():
    with devices.gpus_shown():
        return in_a_child(lambda: os._exit(not torch.cuda.is_available())) == 0


def whole_of(reports):
    """Returns the reports in order, with keys that JSON can represent."""
    return sorted([group, step, metrics] for (group, step), metrics in reports.items())


def differences(one, other, place):
    """Yields the places at which two states differ in any bit."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        same = one.dtype == other.dtype and torch.equal(one.nan_to_num(), other.nan_to_num())
        return [] if same else [place]
    if isinstance(one, dict) and isinstance(other, dict):
        if list(one) != list(other):
            return [f"{place}: {list(one)} and {list(other)}"]
        return [each for key in one for each in differences(one[key], other[key], f"{place} {key}")]
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        if len(one) != len(other):
            return [f"{place}: {len(one)} and {len(other)}"]
        pairs = enumerate(zip(one, other))
        return [each for n, (a, b) in pairs for each in differences(a, b, f"{place} {n}")]
    if callable(one) or (type(one) is type(other) and (one == other or one != one)):
        return []
    return [f"{place}: {one!r} and {other!r}"]


if __name__ == "__main__":
    unittest.main()
