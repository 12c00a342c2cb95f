"""Scores on a wide scale, with severity and noise learned."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.metrics.calibrated_score_learned import calibrated_score_learned
from tests.analysis.examples import ratings, triples


def test_known_scores_and_variances_of_a_wide_scale() -> None:
    rng = np.random.default_rng(8)
    truth = np.array([30.0, 45.0, 50.0])
    rows = [
        {"system": f"m{i}", "rater": f"r{j}", "value": truth[i] + severity + rng.normal(0, 10)}
        for j, severity in enumerate(rng.normal(0, 20, 200))
        for i in rng.permutation(3)[:2]
    ]
    found = calibrated_score_learned(ratings(rows, level="interval"))
    assert ((found["low"] < truth) & (truth < found["high"])).all()
    assert found["severity_sd"].iloc[0] == pytest.approx(20, abs=3)
    assert found["residual_sd"].iloc[0] == pytest.approx(10, abs=1.5)
    raw_se = 22 / np.sqrt(133)
    assert (np.diff(found["estimate"]) - np.diff(truth)).__abs__().max() < 3 * raw_se


def test_raters_of_one_rating_are_noted() -> None:
    given = [(i, 10 * i + k, i + k % 3) for i in range(2) for k in range(6)]
    found = calibrated_score_learned(triples(given))
    assert found["note"].str.contains("severity cannot be separated from noise").all()
    assert list(found["estimate"]) == pytest.approx(list(found["raw"]))


def test_no_spread_is_told() -> None:
    found = calibrated_score_learned(triples([(0, 0, 3), (0, 1, 3), (1, 0, 3)]))
    assert found["estimate"].isna().all()
    assert found["reason"].str.contains("no variance is left").all()
