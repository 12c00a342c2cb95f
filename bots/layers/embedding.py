"""Word vectors to start from: random ones, or GloVe's where its package is installed."""

from __future__ import annotations

from typing import Literal

import torch
from torch import nn

from bots import glove
from bots.layers.asking import Reading
from bots.vocabulary import MARKS, PAD

Vectors = Literal["random", "glove"]
SPREAD = 0.1  # standard deviation of first vectors


def embedding(reading: Reading, dimension: int, start: Vectors = "random") -> nn.Embedding:
    """Return vectors for words and marks; padding is 0.

    GloVe's 50 numbers come first in the vectors of the words it has, scaled to the random ones'
    spread; what is left of a longer vector is random.
    """
    table = nn.Embedding(reading.size, dimension, padding_idx=PAD)
    with torch.no_grad():
        table.weight.normal_(0, SPREAD)
        table.weight[PAD] = 0
        if start == "glove":
            _take_glove(table, reading)
    return table


def _take_glove(table: nn.Embedding, reading: Reading) -> None:
    if table.embedding_dim < glove.SIZE:
        raise ValueError(
            f"dimension is {table.embedding_dim}, but must be at least {glove.SIZE} "
            "for GloVe's vectors"
        )
    found = [(place, torch.from_numpy(each)) for place, each in glove.find(reading.codec.words)]
    if not found:
        return
    vectors = torch.stack([vector for _, vector in found])
    where = torch.tensor([place for place, _ in found]) + len(MARKS)
    table.weight[where, : glove.SIZE] = vectors * (SPREAD / vectors.std())
