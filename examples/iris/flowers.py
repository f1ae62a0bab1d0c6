"""Fisher's iris data: 150 flowers, four lengths each, three species.

The flowers are split once, the same way for every trial. Each species has 25 flowers for training,
10 for validation, by which the search compares trials, and 15 that no decision depends on.
"""

import csv
import random
from pathlib import Path
from typing import NamedTuple

SPECIES = ("setosa", "versicolor", "virginica")
MEASURES = 4
VALIDATION_EACH = 10
HELD_OUT_EACH = 15
SPLIT_SEED = 1936  # The year of Fisher's paper. Any number would do, as long as it stays.


class Flower(NamedTuple):
    measures: tuple[float, ...]
    species: int


class Split(NamedTuple):
    training: list[Flower]
    validation: list[Flower]
    held_out: list[Flower]


def read_flowers() -> list[Flower]:
    with open(Path(__file__).with_name("iris.csv"), newline="") as file:
        rows = list(csv.reader(file))[1:]
    return [Flower(tuple(map(float, row[:-1])), SPECIES.index(row[-1])) for row in rows]


def split_flowers(flowers: list[Flower]) -> Split:
    """Every part has the same share of each species; training flowers scale the measures."""
    split = Split([], [], [])
    order = random.Random(SPLIT_SEED)
    for species in range(len(SPECIES)):
        of_species = [flower for flower in flowers if flower.species == species]
        order.shuffle(of_species)
        first_held_out = VALIDATION_EACH + HELD_OUT_EACH
        split.validation.extend(of_species[:VALIDATION_EACH])
        split.held_out.extend(of_species[VALIDATION_EACH:first_held_out])
        split.training.extend(of_species[first_held_out:])
    return scaled(split)


def scaled(split: Split) -> Split:
    """Scales each measure to mean 0 and standard deviation 1 over the training flowers."""
    columns = list(zip(*(flower.measures for flower in split.training)))
    means = [sum(column) / len(column) for column in columns]
    deviations = [
        (sum((value - mean) ** 2 for value in column) / len(column)) ** 0.5
        for column, mean in zip(columns, means)
    ]

    def scale(flower: Flower) -> Flower:
        measures = zip(flower.measures, means, deviations)
        return Flower(tuple((value - mean) / dev for value, mean, dev in measures), flower.species)

    return Split(*([scale(flower) for flower in part] for part in split))
