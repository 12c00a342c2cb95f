"""Cohen's kappa of two raters, and the mean over pairs of more."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.raters.cohen import cohen, small_interval
from analysis.stats.intervals import bca_interval
from tests.analysis.matrices import ballots_of
from tests.analysis.tables_with_gaps import gappy


def test_two_raters_by_hand() -> None:
    # Both yes 2, both no 1, apart 1: p_o .75, p_e .5.
    found = cohen(ballots_of([[1, 1, 0, 0], [1, 1, 0, 1]]))
    assert found.estimate == pytest.approx((0.75 - 0.5) / 0.5)
    assert (found.pairs, found.used, found.units) == (1, 1, 4)
    assert found.interval.low < found.estimate < found.interval.high <= 1


def test_more_raters_have_the_mean_over_pairs_each_on_what_both_judged() -> None:
    for table in gappy(30, raters=(3, 6)):
        rows = range(len(table))
        pairs = [cohen(ballots_of(table[[a, b]])) for a in rows for b in rows if a < b]
        known = [pair.estimate for pair in pairs if pair.used]
        found = cohen(ballots_of(table))
        assert found.used == len(known)
        if known:
            assert found.estimate == pytest.approx(np.mean(known))


def test_the_interval_of_a_mean_over_pairs_is_that_of_a_jackknife_over_items() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, size=300)
    table = np.where(rng.random((4, 300)) < 0.6, truth, rng.integers(0, 3, (4, 300))).astype(float)
    found = cohen(ballots_of(table))
    left = [cohen(ballots_of(np.delete(table, k, axis=1))).estimate for k in range(300)]
    error = np.sqrt(299 / 300 * ((np.array(left) - np.mean(left)) ** 2).sum())
    assert (found.estimate - found.interval.low) / 1.968 == pytest.approx(error, rel=0.02)


def test_few_items_are_drawn_anew_with_all_their_votes() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, size=15)
    table = np.where(rng.random((3, 15)) < 0.7, truth, rng.integers(0, 3, (3, 15))).astype(float)
    table[0, 3] = np.nan
    given = ballots_of(table)
    found = cohen(given)
    drawn = rng.integers(0, 15, (2000, 15))
    values = np.array([cohen(ballots_of(table[:, one])).estimate for one in drawn])
    left = np.array([cohen(ballots_of(np.delete(table, k, axis=1))).estimate for k in range(15)])
    expected = bca_interval(values, found.estimate, left, np.ones(15), 15)
    ends = [small_interval(given, "identity", found, seed=seed) for seed in range(10)]
    assert np.mean(ends, axis=0) == pytest.approx(tuple(expected), abs=0.04)
    assert abs(found.interval.low - expected.low) > 0.01


def test_many_items_have_the_standard_error_of_kappa() -> None:
    table = np.random.default_rng(3).integers(0, 2, (2, 500)).astype(float)
    given = ballots_of(table)
    assert small_interval(given, "identity", cohen(given), seed=0) == cohen(given).interval


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ([[1, np.nan], [np.nan, 2]], "none of 0 pairs of raters has two items"),
        ([[1, 2, 1], [1, np.nan, np.nan]], "the two raters do not have two items"),
        ([[1, 1], [1, 1]], "the two raters do not have two items"),
    ],
)
def test_why_it_is_undefined(table: list[list[float]], told: str) -> None:
    found = cohen(ballots_of(table))
    assert np.isnan(found.estimate)
    assert told in str(found.undefined)


@pytest.mark.parametrize(
    ("units", "raters", "is_drawn"), [(49, 9, True), (50, 9, False), (60, 3, True)]
)
def test_of_many_units_and_pairs_the_interval_is_the_delta_methods(
    units: int, raters: int, is_drawn: bool
) -> None:
    table = np.random.default_rng(0).integers(1, 6, size=(raters, units)).astype(float)
    given = ballots_of(table)
    found = cohen(given, "linear")
    assert (small_interval(given, "linear", found, seed=0) != found.interval) == is_drawn
