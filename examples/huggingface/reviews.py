"""Generated film reviews: short sentences of praise or complaint, some of which change their mind
halfway.

The same number of reviews and seed give the same reviews.
"""

import random
from typing import NamedTuple

FILMS = ("the film", "this picture", "the sequel", "that comedy", "the thriller", "the remake")
PARTS = ("the cast", "the script", "the music", "the ending", "the pace", "the camera")
GOOD = ("superb", "moving", "clever", "funny", "fresh", "gripping")
BAD = ("dull", "clumsy", "stale", "noisy", "hollow", "predictable")


class Review(NamedTuple):
    text: str
    label: int
    """1 for praise, 0 for a complaint."""


def generate(count: int, seed: int) -> list[Review]:
    chance = random.Random(seed)
    return [_review(chance) for _ in range(count)]


def _review(chance: random.Random) -> Review:
    label = chance.randrange(2)
    words, others = (GOOD, BAD) if label else (BAD, GOOD)
    film, part = chance.choice(FILMS), chance.choice(PARTS)
    form = chance.randrange(4)
    if form == 0:
        return Review(f"{film} was {chance.choice(words)}", label)
    if form == 1:
        return Review(f"{part} of {film} was {chance.choice(words)}", label)
    if form == 2:
        return Review(f"{film} was not {chance.choice(others)}", label)
    return Review(
        f"{part} was {chance.choice(others)} but {film} was {chance.choice(words)}", label
    )
