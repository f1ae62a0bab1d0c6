"""A training without the platform."""

import data
import loop
import torch

if __name__ == "__main__":
    torch.manual_seed(1)
    model = loop.network()
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    train = torch.utils.data.DataLoader(data.pictures(256, 2), batch_size=32)
    test = torch.utils.data.DataLoader(data.pictures(64, 3), batch_size=32)
    for _ in range(2):
        loop.train_epoch(model, train, optimizer)
    print("loss and accuracy", *loop.validate(model, test))
