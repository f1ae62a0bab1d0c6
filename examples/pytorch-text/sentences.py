"""Sentences about restaurants, written by a small grammar. A label depends on the order of the
words: the part after "but" decides, and "not" negates the words after it.
"""

import random
from typing import NamedTuple

import torch
from torch import Tensor

SUBJECTS = ("the soup", "the service", "the bread", "our waiter", "the dessert", "the music")
VERBS = ("was", "seemed", "is")
DEGREES = ("very", "quite", "really", "rather")
GOOD = ("good", "fresh", "friendly", "lovely", "fine", "superb")
BAD = ("bad", "stale", "rude", "awful", "slow", "dull")

WORDS = sorted({*" ".join((*SUBJECTS, *VERBS, *DEGREES, *GOOD, *BAD)).split(), "not", "but", "and"})
# Number 0 pads sentences that are shorter than the longest in their batch.
NUMBERS = {word: n for n, word in enumerate(WORDS, start=1)}
LONGEST = 14


class Sentence(NamedTuple):
    words: list[str]
    praises: bool


def sentences(count: int, seed: int) -> list[tuple[Tensor, int]]:
    """Pairs of a sentence, as word numbers, and its label: 1 for praise, 0 for complaint."""
    draw = random.Random(seed)
    written = [sentence(draw) for _ in range(count)]
    return [
        (torch.tensor([NUMBERS[word] for word in words]), int(praises))
        for words, praises in written
    ]


def sentence(draw: random.Random) -> Sentence:
    first = clause(draw)
    if draw.random() < 0.3:
        return first
    second = clause(draw)
    if first.praises != second.praises:
        return Sentence([*first.words, "but", *second.words], second.praises)
    return Sentence([*first.words, "and", *second.words], second.praises)


def clause(draw: random.Random) -> Sentence:
    good, negated = draw.random() < 0.5, draw.random() < 0.5
    words = [*draw.choice(SUBJECTS).split(), draw.choice(VERBS)]
    words += ["not"] if negated else []
    words += [draw.choice(DEGREES)] if draw.random() < 0.5 else []
    return Sentence([*words, draw.choice(GOOD if good else BAD)], good != negated)


def batch_of(pairs: list[tuple[Tensor, int]]) -> tuple[Tensor, Tensor]:
    """Sentences of different lengths as one tensor, with their labels."""
    numbers = torch.nn.utils.rnn.pad_sequence([pair[0] for pair in pairs], batch_first=True)
    return numbers, torch.tensor([pair[1] for pair in pairs])
