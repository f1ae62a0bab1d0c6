"""The part of Optuna's interface that docs/integrate/searcher.md uses, for machines without Optuna. It draws points
at random and is as strict as Optuna: a trial gets one result, a value or a state.
"""

import random
import types


class _State:
    FAIL = "fail"


class TPESampler:
    def __init__(self, seed):
        self.random = random.Random(seed)


class _Trial:
    def __init__(self, number, sampler):
        self.number = number
        self.ended = False
        self.sampler = sampler

    def suggest_float(self, name, low, high, log):
        assert name and log
        return low * (high / low) ** self.sampler.random.random()


class _Study:
    def __init__(self, sampler):
        self.sampler = sampler
        self.trials = []

    def ask(self):
        trial = _Trial(len(self.trials), self.sampler)
        self.trials.append(trial)
        return trial

    def tell(self, trial, values=None, state=None):
        assert not trial.ended
        assert (values is None) == (state == _State.FAIL)
        trial.ended = True


def create_study(*, sampler, direction):
    assert direction in ("minimize", "maximize")
    return _Study(sampler)


samplers = types.SimpleNamespace(TPESampler=TPESampler)
trial = types.SimpleNamespace(TrialState=_State)
