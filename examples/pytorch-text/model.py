"""A small transformer that scores a sentence with one number."""

import torch
from torch import Tensor, nn


class Reader(nn.Module):
    """Scores sentences (word numbers, batch × length, padded with 0); above 0 means praise."""

    def __init__(self, words: int, longest: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words + 1, width, padding_idx=0)
        self.places = nn.Parameter(torch.randn(longest, width) / width**0.5)
        layer = nn.TransformerEncoderLayer(
            width, heads, dim_feedforward=2 * width, dropout=0.1, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.score = nn.Linear(width, 1)

    def forward(self, sentences: Tensor) -> Tensor:
        nothing = sentences == 0
        read = self.words(sentences) + self.places[: sentences.shape[1]]
        encoded = self.encoder(read, src_key_padding_mask=nothing)
        there = (~nothing).unsqueeze(2).float()
        return self.score((encoded * there).sum(dim=1) / there.sum(dim=1)).squeeze(1)
