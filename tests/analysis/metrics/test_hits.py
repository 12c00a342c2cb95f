"""hits@k."""

from __future__ import annotations

from random import Random

import pytest

from analysis.metrics.hits import hits
from tests.analysis.prediction_tables import estimate, only, predictions, ranked


def test_gold_among_the_best_k() -> None:
    found = hits(ranked(1, 1, 2, 5, 6, 20))
    assert estimate(found, "hits@1") == pytest.approx(2 / 6)
    assert estimate(found, "hits@5") == pytest.approx(4 / 6)
    assert only(found, "hits@1")["question"] == "reply of 20"
    assert only(found, "hits@5")["chance"] == 0.25
    assert estimate(hits(ranked(1, 20), ks=(10,)), "hits@10") == 0.5


def test_random_scores_hit_one_in_twenty() -> None:
    chance = Random(3)
    offered = [f"reply {k}" for k in range(20)]
    rows = [
        {"gold": offered[7], "candidates": offered, "scores": [chance.random() for _ in offered]}
        for _ in range(4000)
    ]
    found = only(hits(predictions(rows)), "hits@1")
    assert found["low"] < 0.05 < found["high"]
    assert found["estimate"] == pytest.approx(0.05, abs=0.01)
    assert found["tie_rate"] == 0


def test_ties_are_broken_by_lot_and_told() -> None:
    offered = [f"reply {k}" for k in range(4)]
    rows = [{"gold": offered[0], "candidates": offered, "scores": [1, 1, 1, 1]}] * 2000
    table = predictions([dict(row) for row in rows])
    found = only(hits(table), "hits@1")
    assert found["estimate"] == pytest.approx(0.25, abs=0.03), "not always the first candidate"
    assert found["tie_rate"] == 1
    assert estimate(hits(table, seed=1), "hits@1") != found["estimate"]


def test_sizes_are_kept_apart_and_what_cannot_be_ranked_is_left_out() -> None:
    two = [{"gold": "a", "candidates": ["a", "b"], "scores": [2, 1]}]
    three = [{"gold": "a", "candidates": ["a", "b", "c"], "scores": [1, 2, 0]}]
    without: list[dict[str, object]] = [
        {"gold": "x", "candidates": ["a", "b"], "scores": [1, 0]},
        {"gold": "a"},
    ]
    found = hits(predictions([*two, *three, *without]))
    assert list(found["question"]) == ["reply of 2", "reply of 3"]
    assert list(found["estimate"]) == [1, 0]
    assert list(found["n"]) == [1, 1]
