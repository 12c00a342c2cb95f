"""Perplexity."""

from __future__ import annotations

import math

import numpy as np
import pytest

from analysis import BadTable
from analysis.metrics.perplexity import perplexity
from tests.analysis.prediction_tables import estimate, only, predictions


def test_a_uniform_model_has_the_size_of_its_vocabulary() -> None:
    rows = [{"gold": "a b", "log_probs": [-math.log(500)] * length} for length in (3, 7, 2)]
    assert estimate(perplexity(predictions(rows)), "perplexity") == pytest.approx(500)


def test_tokens_are_pooled_and_those_not_scored_left_out() -> None:
    rows: list[dict[str, object]] = [
        {"gold": "a b c", "log_probs": [-1.0, None, -2.0]},
        {"gold": "a", "log_probs": "[-3.0]"},
    ]
    found = perplexity(predictions(rows))
    assert estimate(found, "perplexity") == pytest.approx(math.exp(6 / 3))
    assert estimate(found, "perplexity_per_word") == pytest.approx(math.exp(6 / 4))
    assert only(found, "perplexity")["low"] < math.exp(2) < only(found, "perplexity")["high"]


def test_a_perfect_model_has_1() -> None:
    assert estimate(perplexity(predictions([{"log_probs": [0.0, 0.0]}])), "perplexity") == 1


def test_probability_zero_is_infinite() -> None:
    found = perplexity(predictions([{"gold": "a", "log_probs": [-1.0, -math.inf]}]))
    assert estimate(found, "perplexity") == math.inf
    assert only(found, "perplexity")["note"] == "a token of a gold reply has probability 0"


def test_nothing_scored_has_a_reason_and_other_systems_no_row() -> None:
    found = perplexity(predictions([{"log_probs": [None]}]))
    assert set(found["reason"]) == {"no token is scored"}
    assert perplexity(predictions([{"response": "Hi."}])).empty


def test_the_interval_covers_the_truth() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(100):
        rows = [
            {"log_probs": [-float(x) for x in rng.exponential(2, size=rng.integers(2, 9))]}
            for _ in range(60)
        ]
        row = only(perplexity(predictions(rows)), "perplexity")
        covered += row["low"] <= math.exp(2) <= row["high"]
    assert 0.9 <= covered / 100 <= 0.99


@pytest.mark.parametrize("bad", [[0.5], ["x"], [True], [math.nan]])
def test_what_is_no_log_probability_is_refused(bad: list[object]) -> None:
    with pytest.raises(BadTable, match="row 1: log_probs is a list with"):
        predictions([{"log_probs": bad}])
