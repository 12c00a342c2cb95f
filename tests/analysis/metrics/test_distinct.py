"""distinct-n."""

from __future__ import annotations

import pytest

from analysis.metrics.distinct import distinct
from tests.analysis.prediction_tables import estimate, only, predictions, said


def test_published_example() -> None:
    found = distinct(said(("a b a", None), ("a b c", None)))
    assert estimate(found, "distinct_1") == pytest.approx(0.5)
    assert estimate(found, "distinct_2") == pytest.approx(0.5)
    assert estimate(found, "distinct_2_of_ngrams") == pytest.approx(0.75)


def test_lists_of_a_beam_are_looked_into_one_by_one() -> None:
    rows: list[dict[str, object]] = [
        {"gold": "x", "response": "a b", "candidates": ["a b", "a b"]},
        {"gold": "x", "response": "c d", "candidates": ["c d", "e f"]},
        {"gold": "x", "response": "x", "candidates": ["x", "y"], "scores": [1, 0]},
    ]
    found = distinct(predictions(rows))
    assert estimate(found, "ave_distinct_1") == pytest.approx((2 / 4 + 4 / 4) / 2)
    assert estimate(found, "ave_distinct_2") == pytest.approx((1 / 4 + 2 / 4) / 2)
    assert only(found, "ave_distinct_1")["n"] == 2, "a ranker's candidates are not its own"


def test_responses_without_words() -> None:
    found = distinct(said(("Hi", None)))
    assert only(found, "distinct_2_of_ngrams")["reason"] == "no response has a word"
