"""Calibrated scores of the worked example, of the published data, and of known systems."""

from __future__ import annotations

import json

import numpy as np
import pytest

from analysis import rating_table
from analysis.metrics.calibrated_score import calibrated_score
from tests.analysis.examples import (
    cell,
    crowd_campaign_overall,
    kulikov,
    ratings,
    shared,
    simulated,
    triples,
)

EXAMPLE = [(0, 0, 3), (0, 1, 2), (0, 2, 2), (1, 1, 1), (1, 2, 0), (0, 1, 3), (1, 2, 1)]


def test_the_worked_example() -> None:
    found = calibrated_score(triples(EXAMPLE, scale_low=0, scale_high=3))
    assert list(found["estimate"]) == pytest.approx([2.3336, 0.9289], abs=0.005)
    assert list(found["sd"]) == pytest.approx([0.6508, 0.7216], abs=0.005)
    assert list(found["raw"]) == pytest.approx([2.5, 0.6667], abs=1e-4)
    assert list(found["n"]) == [4, 3]


def test_a_moved_scale_moves_the_scores() -> None:
    moved = [(i, j, s + 1) for i, j, s in EXAMPLE]
    found = calibrated_score(triples(moved, scale_low=1, scale_high=4))
    assert list(found["estimate"]) == pytest.approx([3.3336, 1.9289], abs=0.005)


def test_the_published_scores() -> None:
    found = calibrated_score(rating_table(kulikov())).set_index("system")
    expected = json.loads(shared("calibration_golden", "kulikov_expected.json").read_text())
    for model in expected["models"]:
        row = found.loc[f"model{model['model']}"]
        assert row["estimate"] == pytest.approx(model["calibrated_mean"], abs=0.01)
        assert row["sd"] == pytest.approx(model["calibrated_sd"], abs=0.005)
        assert row["flat_mean"] == pytest.approx(model["flat_prior_mean"], abs=1e-4)
        assert row["flat_sd"] == pytest.approx(model["flat_prior_sd"], abs=1e-4)
        assert row["raw"] == pytest.approx(model["raw_mean"], abs=1e-4)
    bots = found.drop("model2")
    assert bots["raw"].idxmax() == "model10"
    assert bots["estimate"].idxmax() == "model14"


def test_the_raters_who_pass_a_real_campaign() -> None:
    expected = json.loads(shared("crowd_campaign_run1", "expected.json").read_text())
    campaign = crowd_campaign_overall()
    passing = campaign[campaign["rater"].isin(expected["passing_worker_ids"])]
    found = calibrated_score(rating_table(passing)).set_index("system")
    scores = expected["calibrated_flat_prior_on_1_plus_4_mean_over_100"]
    assert set(found.index) == set(scores)
    for system, (mean, sd) in scores.items():
        assert cell(found, system, "flat_mean") == pytest.approx(mean, abs=1e-4)
        assert cell(found, system, "flat_sd") == pytest.approx(sd, abs=1e-4)
        assert cell(found, system, "estimate") == pytest.approx(mean, abs=0.03)


def test_known_systems_are_recovered_by_most_intervals() -> None:
    """Unrounded scores of the model itself: 95 % intervals must hold about 95 % of the truth."""
    hits = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        truth = rng.uniform(2, 6, 4)
        severity = rng.normal(size=30)
        rows = [
            {"system": f"m{i}", "rater": f"r{j}", "value": truth[i] + severity[j] + rng.normal()}
            for j in range(30)
            for i in rng.choice(4, 2, replace=False)
        ]
        found = calibrated_score(ratings(rows, level="interval", scale_low=-5, scale_high=13))
        hits += list((found["low"] <= truth) & (truth <= found["high"]))
    assert 0.9 <= np.mean(hits) <= 0.99


def test_a_severe_rater_does_not_sink_a_system() -> None:
    """m1 is as good as m0, but most of its ratings are by the rater who gives less to all."""
    given = [(0, 0, 5), (0, 1, 5), (0, 2, 5), (1, 3, 3), (1, 3, 3), (0, 3, 3), (1, 3, 3), (1, 0, 5)]
    found = calibrated_score(triples(given, scale_low=1, scale_high=7)).set_index("system")
    raw_gap = cell(found, "m0", "raw") - cell(found, "m1", "raw")
    assert cell(found, "m0", "estimate") - cell(found, "m1", "estimate") < raw_gap / 2


def test_the_planted_order_comes_back() -> None:
    found = calibrated_score(simulated()).sort_values("estimate")
    assert list(found["system"]) == ["s0", "s1", "s2", "s3"]


def test_constant_ratings_without_ends_have_no_scale() -> None:
    row = calibrated_score(triples([(0, 0, 3), (0, 1, 3)])).iloc[0]
    assert np.isnan(row["estimate"])
    assert row["reason"].startswith("every rating is 3")
    declared = calibrated_score(triples([(0, 0, 3), (0, 1, 3)], scale_low=1, scale_high=5)).iloc[0]
    assert declared["estimate"] == pytest.approx(3, abs=0.01)
