"""PMI coherence and PPMI."""

from __future__ import annotations

import math

import pytest

from analysis.metrics.pmi_coherence import WordPairs, pairs_of, pmi_coherence
from tests.analysis.prediction_tables import estimate, predictions

PAIRS = [("tea", "hot tea"), ("tea", "hot milk"), ("dog", "walk"), ("dog", "hot walk")]


def test_by_hand() -> None:
    known = WordPairs(PAIRS)
    assert known.pmi("tea", "hot") == pytest.approx(math.log((2 / 4) / ((2 / 4) * (3 / 4))))
    assert known.pmi("tea", "walk") == 0, "a pair never seen"
    assert known.ppmi("tea", "hot") == pytest.approx(math.log2(4 / 3))
    assert known.ppmi("dog", "hot") == 0, "log2(2/3) is below 0"
    assert known.pmi("dog", "hot") == pytest.approx(math.log(2 / 3))


def test_coherence_is_the_mean_of_the_best() -> None:
    known = WordPairs(PAIRS)
    expected = (math.log(4 / 3) + 0) / 2
    assert known.coherence(["tea", "dog"], "hot zebra") == pytest.approx(expected)
    assert known.coherence([], "hot") == 0
    assert known.coherence(["tea"], "...") is None


def test_of_a_table() -> None:
    training = [list(pair) for pair in PAIRS]
    assert pairs_of([["a", "b", "c"]]) == [("a", "b"), ("b", "c")]
    rows: list[dict[str, object]] = [{"context": ["dog", "tea"], "response": "hot"}]
    found = pmi_coherence(predictions(rows), training=training)
    assert estimate(found, "pmi_coherence") == pytest.approx(math.log(4 / 3))
    assert "give `training`" in pmi_coherence(predictions(rows))["reason"].item()
    silent = pmi_coherence(predictions([{"response": "?!"}]), training=training)
    assert silent["reason"].item() == "no response has a word"
