"""Optuna's samplers over a pipe, so that this program evaluates no function itself.

Each line of input is a JSON object, and so is each line of output:

    {"study": {"sampler": "tpe", "seed": 1, "space": {...}, "minimize": true}}  begins a study
    {"sampler": "gp", "seed": 1}                           changes the study's sampler
    {"tell": [trial, value], "ask": true}                  either key, or both

The answer to an ask is {"trial": n, "point": {...}, "seconds": s}, where s is the time of the tell
and the ask in this process, without the pipe. The study is in memory. The space has the form of an
experiment configuration. The first line of output is Optuna's version, and whether the GP sampler
can be used.
"""

import importlib.util
import json
import sys
import time
import warnings

import optuna


def has_gp():
    """Return whether the GP sampler's packages exist; importing them takes seconds, so it waits."""
    return all(importlib.util.find_spec(name) for name in ("scipy", "torch"))


def gp(seed):
    importlib.import_module("torch").set_num_threads(1)
    return optuna.samplers.GPSampler(seed=seed)


def tpe(seed, multivariate):
    return optuna.samplers.TPESampler(seed=seed, multivariate=multivariate)


SAMPLERS = {
    "random": lambda seed: optuna.samplers.RandomSampler(seed=seed),
    "tpe": lambda seed: tpe(seed, False),
    "tpe_multivariate": lambda seed: tpe(seed, True),
    "gp": gp,
}


def suggested(trial, name, parameter):
    kind = parameter["type"]
    if kind == "categorical":
        # Choices are suggested by index, because a choice may be any JSON value.
        return trial.suggest_categorical(name, list(range(len(parameter["vals"]))))
    if kind == "int":
        return trial.suggest_int(name, parameter["minval"], parameter["maxval"])
    if kind == "log":
        base = parameter["base"]
        low, high = base ** parameter["minval"], base ** parameter["maxval"]
        return trial.suggest_float(name, low, high, log=True)
    return trial.suggest_float(name, parameter["minval"], parameter["maxval"])


def point_of(trial, space):
    point = {}
    for name, parameter in space.items():
        value = suggested(trial, name, parameter)
        point[name] = parameter["vals"][value] if parameter["type"] == "categorical" else value
    return point


class Peer:
    def answer(self, request):
        if "study" in request:
            return self.begin(request["study"])
        return self.change(request) if "sampler" in request else self.step(request)

    def begin(self, config):
        self.space = config["space"]
        self.study = optuna.create_study(
            direction="minimize" if config["minimize"] else "maximize",
            sampler=SAMPLERS[config["sampler"]](config["seed"]),
        )
        return {}

    def change(self, config):
        self.study.sampler = SAMPLERS[config["sampler"]](config["seed"])
        return {}

    def step(self, request):
        answer = {}
        start = time.perf_counter()
        if "tell" in request:
            self.study.tell(*request["tell"])
        if request.get("ask"):
            trial = self.study.ask()
            answer = {"trial": trial.number, "point": point_of(trial, self.space)}
        answer["seconds"] = time.perf_counter() - start
        return answer


def main():
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore")
    peer = Peer()
    print(json.dumps({"version": optuna.__version__, "gp": has_gp()}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(peer.answer(request)), flush=True)


if __name__ == "__main__":
    main()
