"""Spread over repetitions, raters, clusters and parts: by hand, and covering what it promises."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.api import OLS

from analysis.stats.between_runs import over_clusters, over_parts, over_raters, over_repeats
from analysis.stats.intervals import Interval

SEED = 3


def test_seven_repeats_by_hand() -> None:
    found = over_repeats([70, 72, 74, 72, 71, 73, 72])
    assert found.mean == 72
    assert found.sd == pytest.approx(math.sqrt((4 + 0 + 4 + 0 + 1 + 1 + 0) / 6))


def test_five_raters_have_four_degrees_of_freedom() -> None:
    means = [0.9, 0.8, 1.0, 0.7, 0.6]
    half = stats.t.ppf(0.975, 4) * np.std(means, ddof=1) / math.sqrt(5)
    assert stats.t.ppf(0.975, 4) == pytest.approx(2.7764, abs=1e-4)
    assert over_raters(means).interval == pytest.approx((0.8 - half, 0.8 + half))


def test_clusters_are_statsmodels() -> None:
    rng = np.random.default_rng(SEED)
    of = np.repeat(np.arange(20), 5)
    values = rng.normal(size=20)[of] + rng.normal(size=100)
    known = OLS(values, np.ones(100)).fit(
        cov_type="cluster", cov_kwds={"groups": of, "use_correction": False}
    )
    half = stats.t.ppf(0.95, 19) * known.bse[0] * math.sqrt(20 / 19)
    found = over_clusters(values, of, level=0.90)
    assert found.interval == pytest.approx((values.mean() - half, values.mean() + half))


def test_the_clustered_interval_covers_where_the_naive_one_does_not() -> None:
    rng = np.random.default_rng(SEED)
    of = np.repeat(np.arange(60), 5)
    ours = naive = 0
    for _ in range(500):
        values = rng.normal(size=60)[of] + rng.normal(size=300)
        low, high = over_clusters(values, of, level=0.90).interval
        ours += low <= 0 <= high
        naive += abs(values.mean()) <= 1.645 * values.std(ddof=1) / math.sqrt(300)
    assert 0.86 <= ours / 500 <= 0.94
    assert naive / 500 < 0.8


def test_parts_are_disjoint_and_seeded() -> None:
    values = np.arange(5000, dtype=float)
    found = over_parts(values, seed=1)
    assert found == over_parts(values[::-1], seed=1)
    assert found != over_parts(values, seed=2)
    assert found.mean == pytest.approx(values.mean())
    assert over_parts([1, 2, 3]).reason == "3 values cannot be cut into 5 parts"


def test_the_sd_of_parts_is_that_of_a_mean_of_a_fifth() -> None:
    rng = np.random.default_rng(SEED)
    values = rng.normal(0.65, 0.2, size=5000)
    sds = [over_parts(values, seed=k).sd for k in range(200)]
    assert np.mean(sds) == pytest.approx(0.2 / math.sqrt(1000), rel=0.1)


@pytest.mark.parametrize("ends", [Interval(-math.inf, math.inf), Interval(0, 1), Interval(0.4, 9)])
def test_an_interval_ends_where_scores_end(ends: Interval) -> None:
    whole, cut = over_repeats([0.5, 1.0]), over_repeats([0.5, 1.0], ends)
    assert whole.interval.low < 0
    assert whole.interval.high > 1
    assert cut.interval == (max(whole.interval.low, ends.low), min(whole.interval.high, ends.high))
    assert cut[:3] == whole[:3]


def test_what_is_undefined_says_why() -> None:
    assert over_repeats([]).reason == "no score"
    assert over_repeats([1.0]).reason == "one evaluation only: no spread"
    assert over_clusters([1, 2], ["a", "a"]).reason == "one cluster only: no interval"
    assert over_clusters([1], ["a"]).reason == "one cluster only: no interval"
    assert over_clusters([], []).reason == "no value"
