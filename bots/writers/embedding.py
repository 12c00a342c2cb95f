"""First word vectors: random ones, or GloVe's where its package is installed."""

from __future__ import annotations

import torch
from torch import nn

from bots.text import glove
from bots.text.vocabulary import MARKS, PAD
from bots.writers.input_tokens import Reading

SPREAD = 0.4  # standard deviation of first vectors; about that of GloVe


def embedding(reading: Reading, dimension: int) -> nn.Embedding:
    """Return random vectors for words and marks; padding is 0."""
    table = nn.Embedding(reading.size, dimension, padding_idx=PAD)
    with torch.no_grad():
        table.weight.normal_(0, SPREAD)
        table.weight[PAD] = 0
    return table


def take_glove(module: nn.Module, reading: Reading) -> None:
    """Put GloVe's numbers in every table of words, for the words that it has.

    They come first in a vector, scaled to the random ones' spread; a longer vector's rest stays.

    Raises ValueError if the tables are too narrow for GloVe.
    """
    found = [(index, torch.from_numpy(each)) for index, each in glove.find(reading.codec.words)]
    tables = [each for each in module.modules() if isinstance(each, nn.Embedding)]
    for table in tables:
        if table.embedding_dim < glove.SIZE:
            raise ValueError(
                f"dimension is {table.embedding_dim}, but must be at least {glove.SIZE} "
                "for GloVe's vectors"
            )
        if found and table.num_embeddings == reading.size:
            vectors = torch.stack([vector for _, vector in found])
            where = torch.tensor([index for index, _ in found]) + len(MARKS)
            with torch.no_grad():
                table.weight[where, : glove.SIZE] = vectors * (SPREAD / vectors.std())
