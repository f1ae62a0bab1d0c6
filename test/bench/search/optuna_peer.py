"""Optuna, asked over a pipe: one JSON object a line in, one out, so that the functions are evaluated in one place only.

    {"study": {"sampler": "tpe", "seed": 1, "space": {...}, "minimize": true}}  begins a study in memory
    {"sampler": "gp", "seed": 1}                                               changes the study's sampler
    {"tell": [trial, value], "ask": true}                                      either key, or both

The answer to an ask is {"trial": n, "point": {...}, "seconds": s}: the time that the tell and the ask took
here, without the pipe. The space is written as an experiment configuration writes it. The first line out
says what was imported.
"""

import importlib.util
import json
import sys
import time
import warnings

import optuna


def has_gp():
    """Whether what the GP sampler needs is there; it takes seconds to import, and is when first used."""
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
        # Choices are drawn by number: a choice may be anything that JSON can hold.
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
