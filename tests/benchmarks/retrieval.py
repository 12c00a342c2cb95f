"""Retrieval on one thread: tf-idf and BM25 beside libraries, and the best of cached candidates.

    OPENBLAS_NUM_THREADS=1 python -m tests.benchmarks.retrieval [--rounds 5] [--texts 130000]
                                                                [--small] [--cpu]

Texts are drawn from English words by how often people use them. Both ways answer the same queries
in turn, from a query's text to the best text, and must give the same answer: tf-idf that of
scikit-learn, BM25 that of numpy's product with all rows (bm25s has another idf, so only its time is
compared), the best of cached vectors that of numpy's sort of all products. Medians of the rounds
(asked: tf-idf at least 8 times scikit-learn; the best of 10,000 x 300 within 1 ms and at least 0.8
times as quick as the bare product; of a million within 30 ms where numpy's product takes 38).
`--small` leaves out the million, which takes 1.2 GB; `--cpu` counts what was computed and no
waiting for a core.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import bm25s
import numpy as np
import torch
import wordfreq
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import linear_kernel

from bots.encoders.lexical import Postings, Statistics, bucket, count
from bots.encoders.shortlist import RowSearch
from bots.text.tokens import words

Clock = Callable[[], float]
BUCKETS = 1 << 20
SIZE = 300
QUERIES = 10


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--texts", type=int, default=130_000)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--cpu", action="store_true")
    given = parser.parse_args()
    clock = time.thread_time if given.cpu else time.perf_counter
    torch.set_num_threads(1)
    torch.manual_seed(0)
    print(f"{'what':34} {'ms':>9} {'against':>26} {'ms':>9} {'gain':>7}")
    sparse(given.texts, given.rounds, clock)
    for rows in (10_000,) if given.small else (10_000, 1_000_000):
        dense(rows, given.rounds, clock)


def sparse(number: int, rounds: int, clock: Clock) -> None:
    """Compare searches by words with those of libraries."""
    texts = utterances(number, Random(0))
    queries = utterances(QUERIES, Random(1))
    counts = count(texts, BUCKETS)
    statistics_ = Statistics.of(counts)
    tfidf(texts, queries, counts, statistics_, rounds, clock)
    bm25(texts, queries, counts, statistics_, rounds, clock)


def tfidf(
    texts: Sequence[str],
    queries: Sequence[str],
    counts: Any,
    known: Statistics,
    rounds: int,
    clock: Clock,
) -> None:
    """Compare with scikit-learn's dense call."""
    vectorizer = TfidfVectorizer(analyzer=words)
    matrix = vectorizer.fit_transform(texts)
    postings = Postings(known.tfidf(counts))

    def theirs(text: str) -> float:
        return float(linear_kernel(vectorizer.transform([text]), matrix).max())

    def ours(text: str) -> float:
        return float(postings.best(*known.query(text), 1)[0][0])

    answers = np.array([[ours(text), theirs(text)] for text in queries])
    np.testing.assert_allclose(answers[:, 0], answers[:, 1], rtol=1e-9)
    compare(
        f"tf-idf, best of {len(texts):,}",
        ours,
        "scikit-learn, dense",
        theirs,
        queries,
        rounds,
        clock,
    )


def bm25(
    texts: Sequence[str],
    queries: Sequence[str],
    counts: Any,
    known: Statistics,
    rounds: int,
    clock: Clock,
) -> None:
    """Compare with bm25s."""
    rows = known.bm25(counts)
    postings = Postings(rows)
    library = bm25s.BM25(k1=2.0, b=0.75, method="robertson")
    library.index([words(text) for text in texts], show_progress=False)

    def theirs(text: str) -> int:
        return int(library.get_scores(words(text)).argmax())

    def ours(text: str) -> int:
        asked = count([text], BUCKETS)
        return int(postings.best(asked.indices, asked.data, 1)[1][0])

    for text in queries:
        scores = rows @ count([text], BUCKETS).toarray()[0]
        np.testing.assert_allclose(scores[ours(text)], scores.max(), rtol=1e-12)
    compare(
        f"BM25, best of {len(texts):,}", ours, "bm25s, all scores", theirs, queries, rounds, clock
    )


def compare(
    what: str,
    ours: Callable[[str], object],
    against: str,
    theirs: Callable[[str], object],
    queries: Sequence[str],
    rounds: int,
    clock: Clock,
) -> None:
    """Time both over all queries, in turn."""
    ways = [lambda: [ours(text) for text in queries], lambda: [theirs(text) for text in queries]]
    one, other = (each / len(queries) for each in medians(ways, rounds, clock))
    row(what, one, against, other)


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


def dense(rows: int, rounds: int, clock: Clock) -> None:
    """Compare the best of cached vectors with the bare product."""
    matrix, queries = torch.randn(rows, SIZE), torch.randn(1, SIZE)
    repeat, search = max(1, 200_000 // rows), RowSearch(matrix)
    products = torch.mv(matrix, queries[0]).numpy()
    sorted_ = np.argsort(-products, kind="stable")
    for most in (1, 100):
        scores, places = (each[0].numpy() for each in search.best(queries, most))
        np.testing.assert_allclose(scores, products[sorted_[:most]], rtol=1e-5)
        np.testing.assert_allclose(products[places], scores, rtol=1e-5)

        def ours(most: int = most) -> None:
            for _ in range(repeat):
                search.best(queries, most)

        def bare() -> None:
            for _ in range(repeat):
                torch.mv(matrix, queries[0])

        def by_numpy() -> None:
            for _ in range(repeat):
                matrix.numpy() @ queries[0].numpy()

        ways = [ours, bare, by_numpy]
        one, other, third = (each / repeat for each in medians(ways, rounds, clock))
        what = f"best {most} of {rows:,} x {SIZE}"
        row(what, one, "bare product", other)
        row(what, one, "numpy's product", third)


def medians(ways: Sequence[Callable[[], object]], rounds: int, clock: Clock) -> list[float]:
    """Return how many milliseconds each takes; they take turns."""
    taken: list[list[float]] = [[] for _ in ways]
    for _ in range(rounds):
        for place, way in enumerate(ways):
            started = clock()
            way()
            taken[place].append(1000 * (clock() - started))
    return [statistics.median(each) for each in taken]


def row(what: str, ours: float, against: str, theirs: float) -> None:
    """Print a line of the table."""
    print(f"{what:34} {ours:9.3f} {against:>26} {theirs:9.3f} {theirs / ours:6.2f}x", flush=True)


if __name__ == "__main__":
    main()
