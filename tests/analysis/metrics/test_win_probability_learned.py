"""Who beats whom on a wide scale."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from analysis.metrics.calibrated_score_learned import calibrated_score_learned
from analysis.metrics.win_probability_learned import win_probability_learned
from tests.analysis.examples import cell, ratings, triples


def test_two_systems_of_separate_raters_are_two_means() -> None:
    rng = np.random.default_rng(4)
    rows = [
        {"system": f"m{i}", "rater": f"r{i}-{k}", "value": 40 + 4 * i + rng.normal(0, 15)}
        for i in range(2)
        for k in range(50)
    ]
    table = ratings(rows, level="interval")
    scores = calibrated_score_learned(table).set_index("system")
    gap = cell(scores, "m1", "estimate") - cell(scores, "m0", "estimate")
    sd = float(np.hypot(cell(scores, "m0", "sd"), cell(scores, "m1", "sd")))
    wins = win_probability_learned(table).set_index(["system", "other_system"])["estimate"]
    assert wins["m1", "m0"] == pytest.approx(float(ndtr(gap / sd)))


def test_without_spread_nothing_is_said() -> None:
    assert win_probability_learned(triples([(0, 0, 3), (0, 1, 3), (1, 0, 3)])).empty
