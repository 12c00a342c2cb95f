"""Telling two groups apart: by hand, as scikit-learn has it, and an interval that covers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from analysis.stats.detection import detection, share

NO = [False]


def test_by_hand_with_a_tie() -> None:
    # Pairs: 3>1, 3>2, 2>1 and 2=2: (1 + 1 + 1 + .5) / 4.
    found = detection([3, 2], [1, 2], [True, False], [False, False])
    assert found.auc == pytest.approx(0.875)
    assert (found.found.estimate, found.mistaken.estimate) == (0.5, 0.0)


def test_is_scikit_learn_s() -> None:
    rng = np.random.default_rng(1)
    for _ in range(30):
        a, b = rng.integers(0, 9, size=40) + 1, rng.integers(0, 9, size=25)
        expected = roc_auc_score([1] * 40 + [0] * 25, np.concatenate([a, b]))
        assert detection(a, b, NO, NO).auc == pytest.approx(expected)


def test_the_interval_covers() -> None:
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(200):
        a, b = rng.normal(1, 1, size=40), rng.normal(0, 1, size=40)
        low, high = detection(a, b, NO, NO).interval
        covered += low <= 0.760250 <= high  # P(N(1, 1) > N(0, 1)) = Φ(1/√2)
    assert 0.91 <= covered / 200 <= 0.98


def test_an_empty_group_says_so() -> None:
    assert detection([], [1.0], [], NO).reason == "one of the two groups is empty"
    assert share([]).n == 0
