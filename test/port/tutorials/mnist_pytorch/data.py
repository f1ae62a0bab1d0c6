"""Ten classes of pictures of 12 by 12: a class is a pattern, a picture is its pattern with noise."""

import torch


def pictures(count, seed):
    patterns = torch.rand(10, 1, 12, 12, generator=torch.Generator().manual_seed(1))
    draw = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 10, (count,), generator=draw)
    noise = torch.randn(count, 1, 12, 12, generator=draw)
    return torch.utils.data.TensorDataset(patterns[labels] + 0.2 * noise, labels)
