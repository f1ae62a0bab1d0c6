"""A small convolutional network."""

from torch import nn


def network(filters, dropout):
    return nn.Sequential(
        nn.Conv2d(1, filters, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Dropout(dropout),
        nn.Flatten(),
        nn.Linear(filters * 25, 10),
    )
