"""Intervals against scipy, published numbers, and their promised coverage."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.random import Generator
from scipy import stats

from analysis.stats import intervals

Draw = Callable[[Generator, tuple[int, int]], intervals.Floats]


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


def test_a_bent_interval_is_students_without_skewness_and_longer_on_the_side_of_the_tail() -> None:
    even, tailed = np.array([1.0, 2, 3, 4, 5]), np.array([1.0, 1, 2, 2, 9])
    straight = intervals.t_interval(3.0, 0.7, 4)
    assert intervals.skewed_interval(3.0, 0.7, 4, even) == pytest.approx(straight)
    low, high = intervals.skewed_interval(3.0, 0.7, 4, tailed)
    assert 3 - low < high - 3
    mirrored = intervals.skewed_interval(-3.0, 0.7, 4, -tailed)
    assert mirrored == pytest.approx((-high, -low))
    assert np.isnan(intervals.skewed_interval(3.0, 0.7, 0, tailed)).all()


def test_the_ends_of_a_bent_interval_are_where_halls_cubic_is_students_quantile() -> None:
    parts = np.random.default_rng(2).exponential(1, 20)
    mean, se = float(parts.mean()), float(stats.sem(parts))
    skew = float(stats.skew(parts)) / np.sqrt(20)
    ends = np.array(intervals.skewed_interval(mean, se, 19, parts))
    t = (mean - ends) / se
    bent = t + skew / 3 * t**2 + skew**2 / 27 * t**3 + skew / 6
    assert bent == pytest.approx(stats.t.ppf([0.975, 0.025], 19))


@pytest.mark.parametrize("events", [1, 4, 30])
def test_a_rate_of_events_has_the_score_interval_of_poissons_mean(events: int) -> None:
    low, high = intervals.rate_interval(float(events), float(np.sqrt(events)), 1e9)
    z = stats.norm.ppf(0.975)
    assert [(events - end) ** 2 / end for end in (low, high)] == pytest.approx([z**2, z**2])
    assert 0 < low < events < high
    assert np.isnan(intervals.rate_interval(0.0, 0.0, 5)).all()


@pytest.mark.parametrize(
    ("draw", "true"),
    [
        (lambda chance, size: chance.exponential(1, size), 1.0),
        (lambda chance, size: chance.poisson(0.5, size).astype(float), 0.5),
    ],
    ids=["waiting times", "rare counts"],
)
def test_bent_and_rate_intervals_hold_more_often_than_students(draw: Draw, true: float) -> None:
    samples = draw(np.random.default_rng(1), (2000, 20))
    held = {"bent": 0, "rate": 0, "straight": 0}
    for values in samples:
        mean, se = float(values.mean()), float(stats.sem(values))
        found = {
            "bent": intervals.skewed_interval(mean, se, 19, values),
            "rate": intervals.rate_interval(mean, se, 19),
            "straight": intervals.t_interval(mean, se, 19),
        }
        for name, (low, high) in found.items():
            held[name] += low <= true <= high
    assert held["straight"] < held["rate"] < 0.97 * len(samples)
    assert held["straight"] < held["bent"] < 0.98 * len(samples)
    assert min(held["rate"], held["bent"]) > 0.92 * len(samples)


def test_the_difference_of_two_shares_is_newcombes() -> None:
    """Newcombe 1998 (Statistics in Medicine 17, 873-890), table II, method 10: 56/70 - 48/80."""
    one, other = intervals.wilson_interval(56, 70), intervals.wilson_interval(48, 80)
    low, high = intervals.difference_interval(56 / 70, one, 48 / 80, other)
    assert (round(low, 4), round(high, 4)) == (0.0524, 0.3339)


@pytest.mark.parametrize(("df", "n", "is_there"), [(0.9, 9, False), (1, 0.9, False), (1, 1, True)])
def test_a_share_of_less_than_one_answer_has_no_interval(
    df: float, n: float, is_there: bool
) -> None:
    for se in (0.0, 0.1):
        found = intervals.share_interval(0.5, se, df, n)
        assert (found != intervals.NONE) == is_there
        assert isinstance(found, intervals.Interval)


def test_the_share_of_answers_that_do_not_vary_is_wilson_s_of_so_many() -> None:
    assert intervals.share_interval(1.0, 0.0, 7, 12) == intervals.wilson_interval(12, 12)
    z2 = intervals.Z**2
    assert intervals.share_interval(1.0, 0.0, 7, 12).low == pytest.approx(12 / (12 + z2))
