"""A small neural network: one hidden layer of tanh units, softmax over the species, trained by
stochastic gradient descent with momentum. Plain Python, so that the example needs nothing installed.
"""

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

from flowers import MEASURES, SPECIES, Flower

Matrix = list[list[float]]


class Score(NamedTuple):
    loss: float
    accuracy: float


class Network:
    """Each row of a matrix contains the weights into one unit, its bias last."""

    def __init__(self, hidden_units: int, seed: int) -> None:
        draw = random.Random(seed)
        self.hidden = random_matrix(draw, hidden_units, MEASURES)
        self.output = random_matrix(draw, len(SPECIES), hidden_units)
        self.hidden_velocity = zeros_like(self.hidden)
        self.output_velocity = zeros_like(self.output)

    def state(self) -> dict[str, Matrix]:
        """The state of training: weights and velocities, as JSON, which keeps every digit of a
        float.
        """
        return dict(vars(self))

    def restore(self, state: dict[str, Matrix]) -> None:
        vars(self).update(state)

    def train_epoch(
        self,
        flowers: Sequence[Flower],
        order: random.Random,
        batch_size: int,
        learning_rate: float,
        momentum: float,
    ) -> float:
        """Trains on each flower once, in a random order. Returns the mean loss."""
        shuffled = order.sample(flowers, len(flowers))
        loss = 0.0
        for start in range(0, len(shuffled), batch_size):
            batch = shuffled[start : start + batch_size]
            hidden_gradient = zeros_like(self.hidden)
            output_gradient = zeros_like(self.output)
            for flower in batch:
                loss += self._add_gradients(flower, hidden_gradient, output_gradient)
            rate = learning_rate / len(batch)
            step(self.hidden, self.hidden_velocity, hidden_gradient, rate, momentum)
            step(self.output, self.output_velocity, output_gradient, rate, momentum)
        return loss / len(flowers)

    def score(self, flowers: Sequence[Flower]) -> Score:
        loss, right = 0.0, 0
        for flower in flowers:
            chances = self._chances(self._hidden_values(flower))
            loss += loss_of(chances[flower.species])
            right += chances.index(max(chances)) == flower.species
        return Score(loss / len(flowers), right / len(flowers))

    def _hidden_values(self, flower: Flower) -> list[float]:
        return [math.tanh(weigh(row, flower.measures)) for row in self.hidden]

    def _chances(self, hidden_values: list[float]) -> list[float]:
        sums = [weigh(row, hidden_values) for row in self.output]
        # Subtracting the largest sum leaves softmax unchanged and keeps the exponent from
        # overflowing.
        largest = max(sums)
        powers = [math.exp(value - largest) for value in sums]
        total = sum(powers)
        return [power / total for power in powers]

    def _add_gradients(self, flower: Flower, hidden: Matrix, output: Matrix) -> float:
        """Adds one flower's gradients by backpropagation and returns its loss."""
        values = self._hidden_values(flower)
        chances = self._chances(values)
        errors = [chance - (n == flower.species) for n, chance in enumerate(chances)]
        for gradient, error in zip(output, errors):
            add_outer(gradient, error, values)
        for unit, value in enumerate(values):
            back = sum(error * row[unit] for error, row in zip(errors, self.output))
            add_outer(hidden[unit], back * (1 - value * value), flower.measures)
        return loss_of(chances[flower.species])


def random_matrix(draw: random.Random, rows: int, inputs: int) -> Matrix:
    """Weights that give each unit a variance near 1 (Glorot), and biases of 0."""
    spread = inputs**-0.5
    return [[*(draw.gauss(0, spread) for _ in range(inputs)), 0.0] for _ in range(rows)]


def zeros_like(matrix: Matrix) -> Matrix:
    return [[0.0] * len(row) for row in matrix]


def weigh(row: list[float], inputs: Sequence[float]) -> float:
    # A row is one longer than the inputs, by its bias, so zip leaves the bias out.
    return sum(weight * value for weight, value in zip(row, inputs)) + row[-1]


def add_outer(gradient: list[float], error: float, inputs: Sequence[float]) -> None:
    for n, value in enumerate(inputs):
        gradient[n] += error * value
    gradient[-1] += error


def loss_of(chance: float) -> float:
    """Cross-entropy of the predicted chance of the right species; finite also for a chance of 0."""
    return -math.log(max(chance, 1e-12))


def step(
    weights: Matrix, velocities: Matrix, gradients: Matrix, rate: float, momentum: float
) -> None:
    for row, velocity, gradient in zip(weights, velocities, gradients):
        for n, slope in enumerate(gradient):
            velocity[n] = momentum * velocity[n] - rate * slope
            row[n] += velocity[n]
