"""The models, optimizers, schedulers and data that a recipe can name."""

from __future__ import annotations

import random

import numpy
import torch
from torch.utils.data import BatchSampler, RandomSampler, SequentialSampler, WeightedRandomSampler

from trainyard import pytorch

nn = torch.nn
rates = torch.optim.lr_scheduler
WIDTH = 4


def drawn(kinds):
    """Draws a number from the named random generators."""
    draws = {
        "python": random.random,
        "numpy": numpy.random.rand,
        "torch": lambda: torch.rand(()).item(),
    }
    return sum(draws[kind]() for kind in kinds.split())


class Tied(nn.Module):
    """Two layers with the same weights."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(WIDTH, WIDTH)
        self.second = nn.Linear(WIDTH, WIDTH)
        self.second.weight = self.first.weight
        self.last = nn.Linear(WIDTH, 1)

    def forward(self, x):
        return self.last(torch.tanh(self.second(torch.tanh(self.first(x)))))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.LSTM(1, 5, num_layers=2, dropout=0.2, batch_first=True)
        self.last = nn.Linear(5, 1)

    def forward(self, x):
        return self.last(self.cells(x.unsqueeze(2))[0][:, -1])


class Convolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(1, 3, 2),
            nn.BatchNorm1d(3),
            nn.ReLU(),
            nn.Dropout1d(0.2),
            nn.Flatten(),
            nn.Linear(9, 1),
        )

    def forward(self, x):
        return self.layers(x.unsqueeze(1))


def net_of(kind):
    norms = nn.utils.parametrizations
    plain = (nn.Linear(WIDTH, 6), nn.Tanh(), nn.Linear(6, 1))
    return {
        "dropout": lambda: nn.Sequential(plain[0], plain[1], nn.Dropout(0.3), plain[2]),
        "batch-norm": lambda: nn.Sequential(plain[0], nn.BatchNorm1d(6), plain[1], plain[2]),
        "recurrent": Recurrent,
        "tied": Tied,
        "spectral": lambda: nn.Sequential(norms.spectral_norm(plain[0]), plain[1], plain[2]),
        "weight-norm": lambda: nn.Sequential(norms.weight_norm(plain[0]), plain[1], plain[2]),
        "convolution": Convolution,
    }[kind]()


def optimizer_of(part, model):
    optim, made = torch.optim, list(model.parameters())
    if part["groups"] == 2 and part["optimizer"] != "lbfgs":
        made = [{"params": made[:1], "lr": 0.003}, {"params": made[1:]}]
    return {
        "sgd": lambda: optim.SGD(made, lr=0.02, momentum=0.9),
        "nesterov": lambda: optim.SGD(
            made, lr=0.02, momentum=0.8, nesterov=True, weight_decay=0.01
        ),
        "adam": lambda: optim.Adam(made, lr=0.01),
        "fused": lambda: optim.Adam(made, lr=0.01, fused=True),
        "amsgrad": lambda: optim.AdamW(made, lr=0.01, amsgrad=True),
        "rmsprop": lambda: optim.RMSprop(made, lr=0.01, momentum=0.5, centered=True),
        "adagrad": lambda: optim.Adagrad(made, lr=0.05, lr_decay=0.01),
        "nadam": lambda: optim.NAdam(made, lr=0.01),
        "radam": lambda: optim.RAdam(made, lr=0.01),
        "adadelta": lambda: optim.Adadelta(made, lr=1.0),
        "asgd": lambda: optim.ASGD(made, lr=0.02),
        "rprop": lambda: optim.Rprop(made, lr=0.002),
        "lbfgs": lambda: optim.LBFGS(made, lr=0.1, max_iter=3, history_size=4),
    }[part["optimizer"]]()


def scheduler_of(kind, optimizer):
    def chained():
        return rates.ChainedScheduler(
            [rates.ConstantLR(optimizer, 0.5, 4), rates.ExponentialLR(optimizer, 0.9)]
        )

    def sequential():
        first, then = rates.LinearLR(optimizer, 0.1, 1.0, 5), rates.CosineAnnealingLR(optimizer, 10)
        return rates.SequentialLR(optimizer, [first, then], [5])

    return {
        "step": lambda: rates.StepLR(optimizer, 3, 0.5),
        "cosine": lambda: rates.CosineAnnealingLR(optimizer, 9),
        "one-cycle": lambda: rates.OneCycleLR(optimizer, 0.05, 60, cycle_momentum=False),
        "plateau": lambda: rates.ReduceLROnPlateau(optimizer, factor=0.5, patience=0),
        "sequential": sequential,
        "chained": chained,
        "lambda": lambda: rates.LambdaLR(optimizer, lambda step: 1 / (1 + step)),
        "cyclic": lambda: rates.CyclicLR(optimizer, 0.001, 0.02, 4, cycle_momentum=False),
        "warm": lambda: rates.CosineAnnealingWarmRestarts(optimizer, 3, 2),
    }[kind]()


class Samples(torch.utils.data.Dataset):
    """Samples that draw random numbers each time they are loaded."""

    def __init__(self, size, draws):
        self.size = size
        self.draws = draws

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        x = torch.tensor([index / self.size, (index % 5) / 5, (index % 3) / 3, 1.0])
        return x + 0.1 * drawn(self.draws), torch.tensor([(index % 7) / 7])


class Together(Samples):
    """Samples that are read in whole batches."""

    def __getitems__(self, indices):
        shift = 0.1 * drawn(self.draws)
        plain = [Samples.__getitem__(self, int(n)) for n in torch.tensor(indices)]
        return [(x + shift, y) for x, y in plain]


class Whole(Samples):
    """A dataset whose items are whole batches."""

    def __getitem__(self, index):
        each = [super(Whole, self).__getitem__((index + n) % self.size) for n in (0, 3, 5)]
        return torch.stack([x for x, _ in each]), torch.stack([y for _, y in each])


class Stream(torch.utils.data.IterableDataset):
    def __init__(self, samples, shuffles):
        self.samples = samples
        self.shuffles = shuffles

    def __len__(self):
        return len(self.samples)

    def __iter__(self):
        order = list(range(len(self.samples)))
        if self.shuffles:
            random.shuffle(order)
        return (self.samples[index] for index in order)


class Endless(torch.utils.data.IterableDataset):
    """An iterable without a length."""

    def __init__(self, samples):
        self.samples = samples

    def __iter__(self):
        return (self.samples[index] for index in range(len(self.samples)))


class Tuples(BatchSampler):
    def __iter__(self):
        return (tuple(batch) for batch in super().__iter__())


class Collate:
    """Collates a batch and draws a random number for it."""

    def __init__(self, draws):
        self.draws = draws

    def __call__(self, samples):
        x, y = torch.utils.data.default_collate(samples)
        return {"x": x + 0.1 * drawn(self.draws), "y": y}


class CollateWhole(Collate):
    def __call__(self, batch):
        x, y = batch
        return {"x": x + 0.1 * drawn(self.draws), "y": y}


def loader_of(data):
    """Returns the description of the training's data."""
    sampling, size = data["sampling"], data["size"]
    kind = {"together": Together, "whole": Whole}.get(sampling, Samples)
    samples = kind(size, data["item"])
    common = {"num_workers": data["workers"], "collate_fn": Collate(data["collate"])}
    batched = {**common, "batch_size": data["batch"], "drop_last": data["drop"]}
    if sampling == "tensors":
        tensors = [torch.stack(column) for column in zip(*map(samples.__getitem__, range(size)))]
        named = {"batch_size": data["batch"], "drop_last": data["drop"], "shuffle": True}
        return pytorch.DataLoader(torch.utils.data.TensorDataset(*tensors), **named)
    if sampling == "whole":
        whole = {**common, "collate_fn": CollateWhole(data["collate"]), "batch_size": None}
        return pytorch.DataLoader(samples, **whole, sampler=RandomSampler(samples))
    if sampling in ("stream", "drawing-stream"):
        return pytorch.DataLoader(Stream(samples, sampling != "stream"), **batched)
    if sampling == "endless":
        return pytorch.DataLoader(Endless(samples), **batched)
    if sampling in ("batch-sampler", "tuples"):
        make = Tuples if sampling == "tuples" else type("Own", (BatchSampler,), {})
        batches = make(RandomSampler(samples), data["batch"], data["drop"])
        return pytorch.DataLoader(samples, **common, batch_sampler=batches)
    if sampling == "torch":
        return torch.utils.data.DataLoader(samples, **batched, shuffle=True)
    samplers = {
        "plain": lambda: SequentialSampler(samples),
        "weighted": lambda: WeightedRandomSampler([1 + n % 3 for n in range(size)], size),
        "replacement": lambda: RandomSampler(samples, replacement=True, num_samples=size),
        "generator": lambda: RandomSampler(samples, generator=torch.Generator().manual_seed(3)),
    }
    if sampling in samplers:
        return pytorch.DataLoader(samples, **batched, sampler=samplers[sampling]())
    return pytorch.DataLoader(samples, **batched, shuffle=True)
