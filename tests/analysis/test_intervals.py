"""Intervals against scipy, published numbers, and their promised coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analysis import intervals


def test_t_interval_is_scipys() -> None:
    values = np.array([3.0, 4, 2, 5, 4])
    se = float(stats.sem(values))
    expected = stats.t.interval(0.95, 4, loc=values.mean(), scale=se)
    assert intervals.t_interval(float(values.mean()), se, 4) == pytest.approx(expected)


def test_normal_interval() -> None:
    assert intervals.normal_interval(0.0, 1.0) == pytest.approx((-1.959964, 1.959964), abs=1e-6)


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (1, 29), (15, 20), (10, 10)])
def test_wilson_interval_is_scipys(successes: int, n: int) -> None:
    expected = stats.binomtest(successes, n).proportion_ci(method="wilson")
    found = intervals.wilson_interval(successes, n)
    assert found == pytest.approx((expected.low, expected.high))


def test_bootstrap_of_a_mean_agrees_with_its_standard_error() -> None:
    values = np.random.default_rng(3).normal(10, 2, 400)
    means = intervals.bootstrap(lambda drawn: drawn @ values / len(values), 400, seed=1)
    low, high = intervals.percentile_interval(means)
    expected = intervals.normal_interval(float(values.mean()), float(stats.sem(values)))
    assert (low, high) == pytest.approx(expected, abs=0.02)


def test_bootstrap_is_seeded_and_drawn_in_pieces() -> None:
    def count(drawn: intervals.Floats) -> intervals.Floats:
        return np.asarray(drawn.sum(axis=1))

    counts = intervals.bootstrap(count, 3000, seed=1)
    assert counts.tolist() == [3000.0] * intervals.DRAWS
    small = [intervals.bootstrap(lambda d: d[:, 0], 5, seed=seed) for seed in (1, 1, 2)]
    assert small[0].tolist() == small[1].tolist()
    assert small[0].tolist() != small[2].tolist()


def test_nothing_defined_means_no_interval() -> None:
    assert np.isnan(intervals.percentile_interval(np.array([np.nan, np.nan]))).all()
    assert np.isnan(intervals.t_interval(1.0, 1.0, 0)).all()
    assert np.isnan(intervals.wilson_interval(0, 0)).all()
