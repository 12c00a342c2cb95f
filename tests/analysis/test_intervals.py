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


def test_bca_is_scipys() -> None:
    chance = np.random.default_rng(4)
    values = chance.exponential(1, 15)
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=40_000, method="BCa", rng=chance, vectorized=True
    ).confidence_interval
    drawn = chance.choice(values, (40_000, 15)).mean(axis=1)
    left_out = (values.sum() - values) / 14
    found = intervals.bca_interval(drawn, values.mean(), left_out, np.ones(15), units=1)
    assert found == pytest.approx((expected.low, expected.high), abs=0.03)
    plain = intervals.percentile_interval(drawn)
    assert found.high - plain.high > 0.05
    wider = intervals.bca_interval(drawn, values.mean(), left_out, np.ones(15), units=15)
    assert wider.low < found.low < found.high < wider.high


def test_bca_counts_units_that_are_alike() -> None:
    kinds, times = np.array([0.0, 1, 3]), np.array([5.0, 4, 2])
    chance = np.random.default_rng(1)
    drawn = chance.multinomial(11, times / 11, 2000) @ kinds / 11
    alike = intervals.bca_interval(
        drawn, times @ kinds / 11, (times @ kinds - kinds) / 10, times, 11
    )
    each = np.repeat(kinds, times.astype(int))
    single = intervals.bca_interval(drawn, each.mean(), (each.sum() - each) / 10, np.ones(11), 11)
    assert alike == pytest.approx(single)
