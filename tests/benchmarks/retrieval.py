"""Retrieval on one thread: tf-idf against scikit-learn's call, and the best of cached candidates.

    python -m tests.benchmarks.retrieval [--rounds 5] [--texts 130000] [--small]

Texts are drawn from English words by how often people use them. Both ways answer the same queries
in turn, from a query's text to the best text, and must give the same answer; medians of the rounds
(asked: tf-idf at least 8 times scikit-learn; the best of 10,000 x 300 within 1 ms and at least 0.8
times as quick as the bare product). `--small` leaves out the million, which takes 1.2 GB.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from random import Random

import numpy as np
import torch
import wordfreq
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import linear_kernel

from bots.layers import topk
from bots.layers.lexical import Postings, Statistics, bucket, count
from bots.text import words

BUCKETS = 1 << 20
SIZE = 300
QUERIES = 10


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--texts", type=int, default=130_000)
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print(f"{'what':34} {'ms':>9} {'against':>26} {'ms':>9} {'gain':>7}")
    sparse(given.texts, given.rounds)
    for rows in (10_000,) if given.small else (10_000, 1_000_000):
        dense(rows, given.rounds)


def sparse(number: int, rounds: int) -> None:
    """Compare tf-idf search with scikit-learn's dense call."""
    texts = utterances(number, Random(0))
    queries = utterances(QUERIES, Random(1))
    vectorizer = TfidfVectorizer(analyzer=words)
    matrix = vectorizer.fit_transform(texts)
    counts = count(texts, BUCKETS)
    weights = Statistics.of(counts)
    postings = Postings(weights.tfidf(counts))

    def theirs(text: str) -> float:
        return float(linear_kernel(vectorizer.transform([text]), matrix).max())

    def ours(text: str) -> float:
        return float(postings.best(*weights.query(text), 1)[0][0])

    answers = np.array([[ours(text), theirs(text)] for text in queries])
    np.testing.assert_allclose(answers[:, 0], answers[:, 1], rtol=1e-9)
    ways = [lambda: [ours(text) for text in queries], lambda: [theirs(text) for text in queries]]
    one, other = (each / QUERIES for each in medians(ways, rounds))
    row(f"tf-idf, best of {number:,}", one, "scikit-learn, dense", other)


def utterances(number: int, chance: Random) -> list[str]:
    """Draw texts of about eleven words; no two of the words share a number."""
    listed: dict[int, str] = {}
    for word in wordfreq.top_n_list("en", 30_000):
        if words(word) == [word]:
            listed.setdefault(bucket(word, BUCKETS), word)
    known = list(listed.values())
    rates = [wordfreq.word_frequency(word, "en") for word in known]
    drawn = chance.choices(known, rates, k=11 * number)
    return [" ".join(drawn[start : start + 11]) for start in range(0, len(drawn), 11)]


def dense(rows: int, rounds: int) -> None:
    """Compare the best of cached vectors with the bare product."""
    matrix, queries = torch.randn(rows, SIZE), torch.randn(1, SIZE)
    repeat = max(1, 200_000 // rows)
    for most in (1, 100):

        def ours(most: int = most) -> None:
            for _ in range(repeat):
                topk.best(matrix, queries, most)

        def bare() -> None:
            for _ in range(repeat):
                torch.mv(matrix, queries[0])

        one, other = (each / repeat for each in medians([ours, bare], rounds))
        row(f"best {most} of {rows:,} x {SIZE}", one, "bare product", other)


def medians(ways: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """Return how many milliseconds each takes; they take turns."""
    taken: list[list[float]] = [[] for _ in ways]
    for _ in range(rounds):
        for place, way in enumerate(ways):
            started = time.perf_counter()
            way()
            taken[place].append(1000 * (time.perf_counter() - started))
    return [statistics.median(each) for each in taken]


def row(what: str, ours: float, against: str, theirs: float) -> None:
    """Print a line of the table."""
    print(f"{what:34} {ours:9.3f} {against:>26} {theirs:9.3f} {theirs / ours:6.2f}x", flush=True)


if __name__ == "__main__":
    main()
