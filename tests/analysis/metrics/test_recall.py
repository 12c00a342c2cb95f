"""Recall@k, MRR, MAP and the DSTC7 track score."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, label_ranking_average_precision_score

from analysis.metrics.recall import recall
from analysis.predictions.prediction_rows import NONE
from analysis.stats.intervals import wilson_interval
from tests.analysis.prediction_tables import estimate, predictions, ranked


def test_by_hand() -> None:
    found = recall(ranked(1, 2, 20, n=100))
    assert estimate(found, "recall@1") == pytest.approx(1 / 3)
    assert estimate(found, "recall@10") == pytest.approx(2 / 3)
    assert estimate(found, "recall@50") == 1
    assert estimate(found, "mrr") == pytest.approx((1 + 1 / 2 + 1 / 20) / 3)
    assert estimate(found, "map") == estimate(found, "mrr"), "one right answer each"
    assert estimate(found, "track_score") == pytest.approx((2 / 3 + (1 + 1 / 2 + 1 / 20) / 3) / 2)


def test_several_right_answers() -> None:
    row = {"gold": ["a", "c"], "candidates": ["a", "b", "c", "d"], "scores": [4, 3, 2, 1]}
    found = recall(predictions([row]), ks=(1, 3))
    assert estimate(found, "map") == pytest.approx((1 / 1 + 2 / 3) / 2)
    assert estimate(found, "mrr") == 1
    assert estimate(found, "recall@1") == 0.5
    assert estimate(found, "recall@3") == 1


def test_where_none_is_right_the_right_answer_is_none() -> None:
    offered = ["a", "b", NONE]
    rows: list[dict[str, object]] = [
        {"gold": NONE, "candidates": offered, "scores": [0.2, 0.1, 0.9]},
        {"gold": NONE, "candidates": offered, "scores": [0.9, 0.1, 0.2]},
    ]
    assert estimate(recall(predictions(rows), ks=(1,)), "recall@1") == 0.5


def test_agrees_with_scikit_learn_on_random_scores() -> None:
    chance = Random(0)
    for _ in range(50):
        n = chance.randint(3, 30)
        offered = [f"r{k}" for k in range(n)]
        right = chance.sample(range(n), chance.randint(1, n - 1))
        scores = [chance.random() for _ in range(n)]
        row = {"gold": [offered[k] for k in right], "candidates": offered, "scores": scores}
        truth = np.isin(np.arange(n), right).astype(int)
        found = recall(predictions([row]))
        assert estimate(found, "map") == pytest.approx(average_precision_score(truth, scores))
        one = np.isin(np.arange(n), right[:1]).astype(int)
        alone = recall(predictions([{**row, "gold": offered[right[0]]}]))
        expected = label_ranking_average_precision_score([one], [scores])
        assert estimate(alone, "mrr") == pytest.approx(expected)


def test_all_found_of_twenty_is_not_all_found_of_all() -> None:
    found = recall(ranked(*([1] * 20), n=100))
    rows = found.set_index("metric")
    assert rows.loc["recall@1", "low"] == pytest.approx(wilson_interval(20, 20).low)
    assert 0.8 < float(str(rows.loc["mrr", "low"])) < 0.85
    assert set(rows["high"]) == {1.0}
