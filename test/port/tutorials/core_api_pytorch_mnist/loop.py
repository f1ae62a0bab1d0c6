"""A network, and one epoch of its training and of its validation."""

import torch
from torch import nn
from torch.nn import functional


def network():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 25, 10)
    )


def train_epoch(model, loader, optimizer, on_batch=lambda batch, loss: None):
    model.train()
    for batch, (pictures, labels) in enumerate(loader):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(pictures), labels)
        loss.backward()
        optimizer.step()
        on_batch(batch, loss.item())


def validate(model, loader):
    model.eval()
    loss, right, count = 0.0, 0, 0
    with torch.no_grad():
        for pictures, labels in loader:
            output = model(pictures)
            loss += functional.cross_entropy(output, labels, reduction="sum").item()
            right += (output.argmax(dim=1) == labels).sum().item()
            count += len(labels)
    return loss / count, right / count
