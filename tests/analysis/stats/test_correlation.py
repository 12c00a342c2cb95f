"""Correlations and lines: by hand, with ties, and against independent packages."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats
from statsmodels.api import OLS, add_constant

from analysis.stats.correlation import (
    Correlation,
    FittedLine,
    kendall_tau,
    line,
    pearson,
    spearman,
)

SEED = 5


def test_by_hand_with_ties() -> None:
    # Ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4: r = 4.5 / √(4.5 · 5).
    found = spearman([1, 2, 2, 3], [10, 20, 30, 40])
    assert found.estimate == pytest.approx(4.5 / math.sqrt(22.5))
    assert pearson([1, 2, 3], [2, 1, 3]).estimate == pytest.approx(0.5)


def test_is_scipy_s_with_ties_and_gaps() -> None:
    rng = np.random.default_rng(SEED)
    for _ in range(100):
        x = rng.integers(0, 6, size=25).astype(float)
        y = x + rng.normal(0, 3, size=25).round()
        x[0] = math.nan
        for ours, known in ((pearson, stats.pearsonr), (spearman, stats.spearmanr)):
            found, expected = ours(x, y), known(x[1:], y[1:])
            assert found.n == 24
            assert (found.estimate, found.p) == pytest.approx(
                (expected.statistic, expected.pvalue), abs=1e-9
            )


def test_fisher_s_interval_is_scipy_s() -> None:
    rng = np.random.default_rng(SEED)
    x, y = rng.normal(size=(2, 40))
    known = stats.pearsonr(x, y).confidence_interval(0.95)
    assert pearson(x, y).interval == pytest.approx((known.low, known.high))


def test_the_interval_of_spearman_covers() -> None:
    rng = np.random.default_rng(SEED)
    r = 0.6
    truth = 6 / math.pi * math.asin(r / 2)  # of a bivariate normal (Kruskal 1958)
    covered = 0
    for _ in range(1000):
        x, noise = rng.normal(size=(2, 60))
        low, high = spearman(x, r * x + math.sqrt(1 - r * r) * noise).interval
        covered += low <= truth <= high
    assert 0.93 <= covered / 1000 <= 0.97


def test_a_line_is_statsmodels_and_r2_is_r_squared() -> None:
    rng = np.random.default_rng(SEED)
    x, noise = rng.normal(size=(2, 9))
    y = 3 - 2 * x + noise
    known = OLS(y, add_constant(x)).fit()
    found = line(x, y)
    assert (found.intercept, found.slope) == pytest.approx(tuple(known.params))
    assert found.r2 == pytest.approx(known.rsquared)
    assert found.r2 == pytest.approx(pearson(x, y).estimate ** 2)


@pytest.mark.parametrize("of", [pearson, spearman, line])
def test_what_is_undefined_says_why(of: Callable[..., Correlation | FittedLine]) -> None:
    assert of([1, 2], [1, 2]).reason == "2 pairs: three are needed"
    assert of([1, 1, 1], [1, 2, 3]).reason == "one side is constant"


@pytest.mark.parametrize("of", [pearson, spearman])
def test_replies_to_the_same_examples_are_no_more_than_the_examples(
    of: Callable[..., Correlation],
) -> None:
    rng = np.random.default_rng(SEED)
    example = np.repeat(np.arange(20), 5)
    naive = ours = 0
    for _ in range(120):
        x, y = rng.normal(size=(2, 20))[:, example] + rng.normal(0, 0.7, size=(2, 100))
        naive += of(x, y).p < 0.05
        ours += of(x, y, example).p < 0.05
    assert naive / 120 > 0.2
    assert ours / 120 < 0.11


def test_examples_of_one_reply_are_no_clusters() -> None:
    x, y = np.random.default_rng(SEED).normal(size=(2, 12))
    assert spearman(x, y, range(12)) == spearman(x, y)
    assert pearson(x, y, [0] * 6 + [1] * 6).reason == "pairs are of 2 clusters: three are needed"


def test_perfect_order_has_no_interval() -> None:
    found = spearman([1, 2, 3, 4], [1, 4, 9, 16])
    assert found.estimate == pytest.approx(1.0)
    assert found.p == pytest.approx(0.0)


def test_kendall_s_tau_is_scipy_s_with_ties() -> None:
    chance = np.random.default_rng(SEED)
    for size in (2, 3, 9):
        x, y = chance.integers(4, size=(2, size)).astype(float)
        x[0] = y[0] = -1  # neither side is constant
        assert kendall_tau(x, y) == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-14)
    assert math.isnan(kendall_tau(np.ones(3), np.arange(3.0)))
    assert math.isnan(kendall_tau(np.ones(1), np.ones(1)))
