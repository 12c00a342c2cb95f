"""Sparse texts, their weights, and exact search."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

from bots.encoders.lexical import Postings, Statistics, bucket, count

TEXTS = ["red green", "red blue blue", "red"]
BUCKETS = 4096


def weight(rows: sparse.csr_array, text: int, word: str) -> float:
    return float(rows.toarray()[text, bucket(word, BUCKETS)])


def test_bm25_by_hand() -> None:
    """Henderson et al. 2019: k1 = 2, b = .75, idf ln((N - df + .5) / (df + .5))."""
    counts = count(TEXTS, BUCKETS)
    rows = Statistics.of(counts).bm25(counts)
    room = 2.0 * (1 - 0.75 + 0.75 * 3 / 2)  # three words where the average is two
    expected = math.log((3 - 1 + 0.5) / (1 + 0.5)) * 2 * (2.0 + 1) / (2 + room)
    assert weight(rows, 1, "blue") == pytest.approx(expected)
    assert weight(rows, 0, "red") < 0  # in all texts: the idf of the paper is negative


def test_tfidf_rows_have_length_one_and_rare_words_count_more() -> None:
    counts = count(TEXTS, BUCKETS)
    rows = Statistics.of(counts).tfidf(counts)
    np.testing.assert_allclose(np.sqrt((rows * rows).sum(axis=1)), 1.0)
    ratio = weight(rows, 0, "green") / weight(rows, 0, "red")
    assert ratio == pytest.approx((math.log(4 / 2) + 1) / (math.log(4 / 4) + 1))


def test_a_query_is_its_row() -> None:
    counts = count(TEXTS, BUCKETS)
    statistics = Statistics.of(counts)
    for text in ("blue green green unseen", ""):
        numbers, weights = statistics.query(text)
        row = statistics.tfidf(count([text], BUCKETS))
        np.testing.assert_array_equal(numbers, row.indices)
        np.testing.assert_allclose(weights, row.data)


def test_an_empty_text_is_a_row_of_nothing() -> None:
    counts = count(["", "red"], BUCKETS)
    rows = Statistics.of(counts).tfidf(counts)
    assert rows.toarray()[0].sum() == 0
    assert count([], BUCKETS).shape == (0, BUCKETS)


def test_postings_give_the_dense_product_and_its_best() -> None:
    chance = np.random.default_rng(1)
    dense = chance.random((500, 30)) * (chance.random((500, 30)) < 0.15)
    dense[:, 0] = chance.random(500)  # a common word, kept as a whole column
    dense[7] = dense[3]  # equal texts
    postings = Postings(sparse.csr_array(dense))
    numbers, weights = [0, 4, 9], [0.5, 2.0, -1.0]
    query = np.zeros(30)
    query[numbers] = weights
    np.testing.assert_allclose(postings.scores(numbers, weights), dense @ query)
    order = np.argsort(-(dense @ query), kind="stable")
    for most in (0, 1, 20, 900):
        scores, places = postings.best(numbers, weights, most)
        np.testing.assert_array_equal(places, order[:most])
        np.testing.assert_allclose(scores, (dense @ query)[places])
