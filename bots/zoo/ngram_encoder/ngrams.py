"""Texts as unigrams and bigrams, and a network that reads both kinds.

Source: Henderson et al. 2019 ("A Repository of Conversational Datasets"), section 4.2; where the
sizes come from and what is our own is told in `bots.zoo.ngram_encoder`.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from bots.encoders.bags import FREQUENT, Vocabulary
from bots.text.tokens import words

LONGEST = 128  # words of a text, its last ones
AT_ONCE = 256
PAIRS = 0.3  # how long bigrams start beside unigrams: most are rare, and few are met again


@dataclass(frozen=True)
class NgramTerms:
    """The numbers of a text's unigrams and bigrams, in order; 0 is none."""

    unigrams: tuple[int, ...]
    bigrams: tuple[int, ...]


@dataclass(frozen=True)
class NgramSizes:
    """Lengths of vectors, and the number and width of the dense layers."""

    unigrams: int
    bigrams: int
    layers: int
    dense: int
    output: int


class Grams:
    """Numbers for n-grams: words that are listed have one of their own, the rest share buckets."""

    def __init__(self, listed: Sequence[str], buckets: int) -> None:
        self.listed = tuple(listed)
        self.words = Vocabulary(listed, buckets)
        self.pairs = 1 + buckets

    def terms(self, text: str) -> NgramTerms:
        """Return the n-grams of a text."""
        listed = words(text)[-LONGEST:]
        pairs = (f"{one} {other}" for one, other in pairwise(["<", *listed, ">"]))
        numbers = (1 + zlib.crc32(pair.encode()) % (self.pairs - 1) for pair in pairs)
        return NgramTerms(self.words.bag(" ".join(listed)) or (0,), tuple(numbers))


class _Side(nn.Module):
    """The embeddings of contexts, or of replies."""

    def __init__(self, sizes: NgramSizes) -> None:
        super().__init__()
        self.reduce = nn.ModuleList(_Reduction(size) for size in (sizes.unigrams, sizes.bigrams))
        joined = sizes.unigrams + sizes.bigrams
        self.layers = nn.ModuleList(_Residual(joined, sizes.dense) for _ in range(sizes.layers))
        self.last = nn.Linear(joined, sizes.output, bias=False)
        nn.init.orthogonal_(self.last.weight)

    def forward(self, kinds: Sequence[tuple[Tensor, Tensor]]) -> Tensor:
        parts = [
            reduce(vectors, present)
            for reduce, (vectors, present) in zip(self.reduce, kinds, strict=True)
        ]
        joined = torch.cat(parts, dim=-1)
        for layer in self.layers:
            joined = layer(joined)
        return functional.normalize(self.last(joined), dim=-1)


class _Reduction(nn.Module):
    """Self-attention over a text, then the sum over it divided by the root of its length."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.asks = nn.Linear(size, 64, bias=False)
        self.answers = nn.Linear(size, 64, bias=False)
        self.gate = nn.Parameter(torch.zeros(()))
        self.weigh = nn.Linear(size, 1)
        nn.init.zeros_(self.weigh.weight)
        nn.init.zeros_(self.weigh.bias)

    def forward(self, vectors: Tensor, present: Tensor) -> Tensor:
        alike = self.asks(vectors) @ self.answers(vectors).transpose(1, 2) / 8
        attention = torch.softmax(alike.masked_fill(~present.unsqueeze(1), -1e4), dim=-1)
        vectors = vectors + self.gate * (attention @ vectors)
        counted = 2 * torch.sigmoid(self.weigh(vectors)) * present.unsqueeze(-1)
        return (vectors * counted).sum(dim=1) / present.sum(dim=1, keepdim=True).clamp(min=1).sqrt()


class _Residual(nn.Module):
    """A dense layer that at first adds nothing."""

    def __init__(self, size: int, width: int) -> None:
        super().__init__()
        self.inner = nn.Linear(size, width)
        self.outer = nn.Linear(width, size)
        nn.init.zeros_(self.outer.weight)
        nn.init.zeros_(self.outer.bias)

    def forward(self, vectors: Tensor) -> Tensor:
        added: Tensor = self.outer(functional.gelu(self.inner(vectors)))
        return vectors + added


class NgramEncoder(nn.Module):
    """Contexts and replies to vectors of length 1."""

    def __init__(self, grams: Grams, sizes: NgramSizes, *, shared: bool) -> None:
        super().__init__()
        self.grams = grams
        copies = 1 if shared else 2
        self.unigrams = nn.ModuleList(
            _table(grams.words.size, sizes.unigrams) for _ in range(copies)
        )
        self.bigrams = nn.ModuleList(_table(grams.pairs, sizes.bigrams) for _ in range(copies))
        self.sides = nn.ModuleList(_Side(sizes) for _ in range(2))
        if shared:
            self.sides[1].load_state_dict(self.sides[0].state_dict())
        self.scale = nn.Parameter(torch.tensor(15.0))

    def lengthen(self, texts: Sequence[NgramTerms]) -> None:
        """Start with longer vectors for rarer n-grams, by these texts."""
        _lengthen(self.unigrams, Counter(n for text in texts for n in text.unigrams), 1.0)
        _lengthen(self.bigrams, Counter(n for text in texts for n in text.bigrams), PAIRS)

    def contexts(self, texts: Sequence[NgramTerms]) -> Tensor:
        """Return the vectors of contexts."""
        return self._encode(texts, 0)

    def grouped(self, groups: Sequence[Sequence[NgramTerms]]) -> list[Tensor]:
        """Return the vectors of contexts' texts, in one pass."""
        vectors = self.contexts([text for group in groups for text in group])
        return list(torch.split(vectors, [len(group) for group in groups]))

    def replies(self, texts: Sequence[NgramTerms]) -> Tensor:
        """Return the vectors of replies."""
        return self._encode(texts, 1)

    def vectors(self, texts: Sequence[str]) -> Tensor:
        """Return the vectors of any number of replies."""
        terms = [self.grams.terms(text) for text in texts]
        with torch.inference_mode():
            parts = [
                self.replies(terms[start : start + AT_ONCE])
                for start in range(0, len(terms), AT_ONCE)
            ]
            return torch.cat(parts).clone()

    def _encode(self, texts: Sequence[NgramTerms], side: int) -> Tensor:
        which = min(side, len(self.unigrams) - 1)
        kinds = [
            self._look_up(self.unigrams[which], [text.unigrams for text in texts]),
            self._look_up(self.bigrams[which], [text.bigrams for text in texts]),
        ]
        vectors: Tensor = self.sides[side](kinds)
        return vectors

    def _look_up(self, table: nn.Module, rows: Sequence[tuple[int, ...]]) -> tuple[Tensor, Tensor]:
        longest = max(map(len, rows))
        padded = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])
        padded = padded.to(self.scale.device)
        return table(padded), padded != 0


def _table(number: int, size: int) -> nn.Embedding:
    table = nn.Embedding(number, size, padding_idx=0)
    with torch.no_grad():
        table.weight /= size**0.5
    return table


def _lengthen(tables: nn.ModuleList, counted: Counter[int], share: float) -> None:
    """Lengthen the vectors of n-grams that occur in fewer texts."""
    total = sum(counted.values()) / FREQUENT
    with torch.no_grad():
        for table in tables:
            assert isinstance(table, nn.Embedding)  # noqa: S101
            counts = torch.tensor([max(1, counted[n]) for n in range(table.num_embeddings)])
            table.weight *= share * torch.log1p(total / counts).unsqueeze(1)
