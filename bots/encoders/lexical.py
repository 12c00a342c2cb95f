"""Lexical vectors: texts as sparse rows of hashed words, by TF-IDF or BM25, and exact search.

Source: the retrieval baselines of Henderson et al. 2019 ("A Repository of Conversational
Datasets"), section 4.1, with the constants of their released code: k1 = 2.0, b = 0.75, idf
ln((N - df + 0.5) / (df + 0.5)), average length from the training set, hashed words so that none is
out of vocabulary. What tf-idf's idf is the paper leaves open: ln((1 + N) / (1 + df)) + 1 here.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from scipy import sparse

from bots.text.tokens import words

Floats = np.ndarray
K1 = 2.0
B = 0.75
COMMON = 20  # a word in more than one of so many texts is kept as a whole column: it adds up faster


@cache
def bucket(word: str, buckets: int) -> int:
    """Return the number of a word."""
    return zlib.crc32(word.encode()) % buckets


def count(texts: Sequence[str], buckets: int) -> sparse.csr_array:
    """Return how often each text holds each word, a row for a text."""
    bags = [Counter(bucket(word, buckets) for word in words(text)) for text in texts]
    starts = np.cumsum([0, *(len(bag) for bag in bags)])
    columns = np.array([column for bag in bags for column in bag], dtype=np.int32)
    data = np.array([number for bag in bags for number in bag.values()], dtype=np.float64)
    return sparse.csr_array((data, columns, starts), shape=(len(texts), buckets))


@dataclass(frozen=True)
class Statistics:
    """Word statistics of a training set: in how many texts each is, and how long texts are."""

    texts: int
    documents: Floats
    average: float

    @classmethod
    def of(cls, counts: sparse.csr_array) -> Statistics:
        """Count words of a training set."""
        held = np.bincount(counts.indices, minlength=counts.shape[1])
        return cls(counts.shape[0], held, float(counts.sum()) / max(1, counts.shape[0]))

    def tfidf(self, counts: sparse.csr_array) -> sparse.csr_array:
        """Weight rows by tf-idf, each of length 1, so that products are cosines."""
        weighted = _times(counts, self._smooth)
        lengths = np.sqrt(np.asarray((weighted * weighted).sum(axis=1)))
        return _divided(weighted, lengths)

    def bm25(self, counts: sparse.csr_array) -> sparse.csr_array:
        """Weight rows so that the product with a query's plain counts is BM25."""
        lengths = np.asarray(counts.sum(axis=1)) / (self.average or 1.0)
        damping = np.repeat(K1 * (1 - B + B * lengths), np.diff(counts.indptr))
        gained = counts.data * (K1 + 1) / (counts.data + damping)
        return _times(_with(counts, gained), self._robertson)

    def query(self, text: str) -> tuple[Floats, Floats]:
        """Return numbers and weights of the words of a query: its row of `tfidf`, found quicker."""
        counted = Counter(bucket(word, len(self.documents)) for word in words(text))
        numbers = np.fromiter(counted, dtype=np.int64, count=len(counted))
        weights = np.fromiter(counted.values(), dtype=np.float64, count=len(counted))
        weights = weights * self._smooth[numbers]
        return numbers, weights / (np.sqrt(weights @ weights) or 1.0)

    @cached_property
    def _smooth(self) -> Floats:
        idf: Floats = np.log((1 + self.texts) / (1 + self.documents)) + 1
        return idf

    @cached_property
    def _robertson(self) -> Floats:
        idf: Floats = np.log((self.texts - self.documents + 0.5) / (self.documents + 0.5))
        return idf


def _with(rows: sparse.csr_array, data: Floats) -> sparse.csr_array:
    return sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)


def _times(rows: sparse.csr_array, columns: Floats) -> sparse.csr_array:
    return _with(rows, rows.data * columns[rows.indices])


def _divided(rows: sparse.csr_array, lengths: Floats) -> sparse.csr_array:
    each = np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(rows.indptr))
    return _with(rows, rows.data / each)


class Postings:
    """Weighted texts by word: a query costs as much as its words occur."""

    def __init__(self, rows: sparse.csr_array) -> None:
        columns = sparse.csc_array(rows)
        self.texts = rows.shape[0]
        self._starts, self._columns, self._weights = columns.indptr, columns.indices, columns.data
        often = np.flatnonzero(np.diff(self._starts) > max(1, self.texts // COMMON))
        self._whole = {int(word): columns[:, [word]].toarray()[:, 0] for word in often}

    def scores(self, numbers: Sequence[int] | Floats, weights: Sequence[float] | Floats) -> Floats:
        """Return the product of the query with every text."""
        found = np.zeros(self.texts)
        for word, weight in zip(numbers, weights, strict=True):
            if word in self._whole:
                found += weight * self._whole[word]
            else:
                held = slice(self._starts[word], self._starts[word + 1])
                found[self._columns[held]] += weight * self._weights[held]
        return found

    def best(
        self, numbers: Sequence[int] | Floats, weights: Sequence[float] | Floats, most: int
    ) -> tuple[Floats, np.ndarray]:
        """Return scores and positions of the best texts, best first; the earlier of equal ones."""
        scores = self.scores(numbers, weights)
        most = min(most, self.texts)
        if most == 1:
            indices = np.array([scores.argmax()])
        elif most:
            bound = np.partition(scores, self.texts - most)[self.texts - most]
            indices = np.flatnonzero(scores >= bound)
            indices = indices[np.argsort(-scores[indices], kind="stable")[:most]]
        else:
            indices = np.array([], dtype=np.int64)
        return scores[indices], indices
