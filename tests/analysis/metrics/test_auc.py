"""AUC and AUC@p."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score, roc_curve

from analysis.metrics.auc import area, auc, curve
from tests.analysis.prediction_tables import estimate, predictions


def test_published_example() -> None:
    false, true = curve([0.9, 0.4], [0.8, 0.3, 0.2, 0.1])
    assert area(false, true) == pytest.approx(0.875)
    assert area(false, true, 0.25) == pytest.approx(0.5)
    assert area(false, true, 0.5) == pytest.approx(0.75)


def test_of_a_table() -> None:
    rows: list[dict[str, object]] = [
        {"gold": "a", "candidates": ["a", "b", "c"], "scores": [0.9, 0.8, 0.3]},
        {"gold": "a", "candidates": ["b", "c", "a"], "scores": [0.2, 0.1, 0.4]},
    ]
    found = auc(predictions(rows), shares=(0.25, 0.5))
    assert estimate(found, "auc") == pytest.approx(0.875)
    assert estimate(found, "auc@0.25") == pytest.approx(0.5)
    assert estimate(found, "auc@0.5") == pytest.approx(0.75)


def test_agrees_with_scikit_learn_on_random_scores_with_ties() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        positive, negative = (rng.integers(0, 8, size=rng.integers(1, 20)) for _ in range(2))
        truth = [1] * len(positive) + [0] * len(negative)
        scores = [*positive, *negative]
        false, true = curve(positive.tolist(), negative.tolist())
        assert area(false, true) == pytest.approx(roc_auc_score(truth, scores))
        x, y, _ = roc_curve(truth, scores, drop_intermediate=False)
        p = float(rng.uniform(0.05, 1))
        grid = np.linspace(0, p, 20001)
        # np.interp takes the last of several heights at one place, which is the curve's there.
        expected = np.trapezoid(np.interp(grid, x, y), grid) / p
        assert area(false, true, p) == pytest.approx(expected, abs=2e-3)


def test_without_wrong_replies_there_is_nothing_to_tell_apart() -> None:
    assert auc(predictions([{"gold": "a", "candidates": ["a"], "scores": [1]}])).empty
