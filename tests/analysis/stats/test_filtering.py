"""Filtering by a score: perfect is 1, random is the prevalence, ties are one step."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import auc, average_precision_score, precision_recall_curve

from analysis.stats.filtering import area_interval, curve

SEED = 2


def _area(scores: object, bad: object, **options: object) -> float:
    found = curve(scores, bad, **options)  # type: ignore[arg-type]
    assert found is not None
    return found.area()


def test_perfect_is_one_and_all_alike_is_the_prevalence() -> None:
    bad = [True, True, False, False, False]
    assert _area([0.1, 0.2, 0.5, 0.6, 0.9], bad) == 1.0
    assert _area([9, 8, 5, 4, 1], bad, low_is_bad=False) == 1.0
    assert _area([0.5] * 5, bad) == pytest.approx(0.4)


def test_random_scores_are_the_prevalence() -> None:
    rng = np.random.default_rng(SEED)
    areas = [_area(rng.normal(size=500), rng.random(500) < 0.3) for _ in range(100)]
    assert np.mean(areas) == pytest.approx(0.3, abs=0.02)


def test_by_hand() -> None:
    found = curve([1, 2, 3, 3], [True, False, True, False])
    assert found is not None
    assert list(found.precision) == pytest.approx([1, 1 / 2, 1 / 2])
    assert list(found.recall) == pytest.approx([1 / 2, 1 / 2, 1])
    assert found.area() == pytest.approx(0.75)
    assert found.area("trapezoid") == pytest.approx(0.75)
    assert (found.prevalence, found.n) == (0.5, 4)


def test_is_scikit_learn_s_with_ties() -> None:
    rng = np.random.default_rng(SEED)
    for _ in range(50):
        scores, bad = rng.integers(0, 8, size=40), rng.random(40) < 0.4
        assert _area(scores, bad) == pytest.approx(average_precision_score(bad, -scores))
        precision, recall, _ = precision_recall_curve(bad, -scores)
        found = curve(scores, bad)
        assert found is not None
        # scikit-learn begins at precision 1, ours where the strictest threshold is.
        first = (1 - found.precision[0]) * found.recall[0] / 2
        assert found.area("trapezoid") == pytest.approx(auc(recall, precision) - first)


def test_nothing_bad_has_no_curve() -> None:
    assert curve([1, 2], [False, False]) is None


def test_the_interval_holds_the_area_and_does_not_depend_on_order() -> None:
    rng = np.random.default_rng(SEED)
    bad = rng.random(120) < 0.4
    scores = rng.normal(size=120) - bad
    low, high = area_interval(scores, bad, seed=4)
    assert low < _area(scores, bad) < high
    order = rng.permutation(120)
    assert area_interval(scores[order], bad[order], seed=4) == (low, high)
    assert area_interval(-scores, bad, low_is_bad=False, seed=4) == (low, high)
