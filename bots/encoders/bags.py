"""Bags of words as texts, and an encoder that embeds a bag as the mean or sum of its words."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain

import torch
from torch import Tensor, nn

from bots.text.tokens import words

Bag = tuple[int, ...]
FREQUENT = 1000  # a word that is one in so many has the weight log 2


class Vocabulary:
    """Numbers for words; 0 is nothing. A word not listed shares one of `hashed` numbers."""

    def __init__(self, listed: Sequence[str], hashed: int) -> None:
        self.listed = tuple(listed)
        self.hashed = hashed
        self._numbers = {word: number for number, word in enumerate(listed, start=1)}

    @property
    def size(self) -> int:
        """Number of different numbers."""
        return 1 + len(self.listed) + self.hashed

    def bag(self, text: str) -> Bag:
        """Return the numbers of the words of a text."""
        numbers = (self._number(word) for word in words(text))
        return tuple(number for number in numbers if number)

    def _number(self, word: str) -> int:
        if word in self._numbers:
            return self._numbers[word]
        if not self.hashed:
            return 0
        return 1 + len(self.listed) + zlib.crc32(word.encode()) % self.hashed


def count_words(texts: Iterable[str]) -> Counter[str]:
    """Count every word."""
    return Counter(chain.from_iterable(map(words, texts)))


class BagEncoder(nn.Module):
    """One table of word vectors, for messages, replies and personas alike."""

    def __init__(self, size: int, dimension: int, pooling: str, max_norm: float | None) -> None:
        super().__init__()
        self.table = nn.EmbeddingBag(
            size, dimension, mode=pooling, padding_idx=0, max_norm=max_norm, sparse=True
        )

    def start(self, vocabulary: Vocabulary, counted: Counter[str] | None) -> None:
        """Draw the first vectors; given counts, the more often a word occurs the shorter."""
        weight = torch.randn(self.table.weight.shape) / self.table.embedding_dim**0.5
        if counted is not None:
            total = sum(counted.values()) / FREQUENT
            numbers = [1, *(counted[word] for word in vocabulary.listed), *[1] * vocabulary.hashed]
            lengths = [math.log1p(total / max(1, number)) for number in numbers]
            weight *= torch.tensor(lengths).unsqueeze(1)
        weight[0] = 0.0
        with torch.no_grad():
            self.table.weight.copy_(weight)

    def forward(self, bags: Sequence[Bag]) -> Tensor:
        """Embed each bag; an empty one is the zero vector."""
        lengths = [len(bag) or 1 for bag in bags]
        flat = list(chain.from_iterable(bag or (0,) for bag in bags))
        where = self.table.weight.device
        starts = torch.tensor([0, *accumulate(lengths)][:-1], dtype=torch.int64, device=where)
        vectors: Tensor = self.table(torch.tensor(flat, dtype=torch.int64, device=where), starts)
        return vectors
