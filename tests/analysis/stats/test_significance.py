"""Tests of significance: by hand, the specification's vectors, and independent packages."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import binom_test
from statsmodels.stats.weightstats import ttest_ind

from analysis.stats.significance import binomial, chi_square, holm, paired_t_test, stars, t_test

SEED = 11


def test_holm_s_vector() -> None:
    assert holm([0.001, 0.02, 0.03, 0.04]) == pytest.approx([0.004, 0.06, 0.06, 0.06])


def test_holm_in_any_order_with_gaps_is_statsmodels() -> None:
    rng = np.random.default_rng(SEED)
    for _ in range(5):  # the package takes a tenth of a second for each
        p = rng.uniform(0, 0.2, size=rng.integers(1, 12)).tolist()
        expected = multipletests(p, method="holm")[1]
        assert holm([math.nan, *p])[1:] == pytest.approx(list(expected), abs=1e-12)
    assert math.isnan(holm([math.nan, 0.5])[0])


def test_paired_t_is_scipy_s() -> None:
    a, b = np.random.default_rng(SEED).normal(size=(2, 12))
    found, known = paired_t_test(a, b), stats.ttest_rel(a, b)
    assert (found.statistic, found.df, found.p) == pytest.approx(
        (known.statistic, 11, known.pvalue)
    )
    assert found.effect == pytest.approx((a - b).mean())
    assert paired_t_test([1, 2], [0, 1]).reason == "all differences are alike"


def test_binomial_by_hand() -> None:
    # 9 of 10 against .5: (10 + 1) / 1024 on each side.
    found = binomial(9, 10)
    assert found.p == pytest.approx(22 / 1024)
    assert found.effect == pytest.approx(0.4)
    assert binomial(5, 10).p == pytest.approx(1.0)
    assert binomial(0, 0).reason == "no trial"


def test_binomial_against_any_chance_is_statsmodels() -> None:
    rng = np.random.default_rng(SEED)
    for _ in range(100):
        n, chance = int(rng.integers(1, 60)), float(rng.uniform(0.05, 0.95))
        hits = int(rng.integers(0, n + 1))
        assert binomial(hits, n, chance).p == pytest.approx(binom_test(hits, n, chance), abs=1e-9)


def test_t_by_hand() -> None:
    # Means 2 and 4, variances 1 and 4, n 3 each: t = -2 / √(1/3 + 4/3).
    found = t_test([1, 2, 3], [2, 4, 6])
    assert found.statistic == pytest.approx(-2 / math.sqrt(5 / 3))
    assert found.df == pytest.approx((5 / 3) ** 2 / ((1 / 3) ** 2 / 2 + (4 / 3) ** 2 / 2))
    assert found.effect == -2
    assert t_test([1, 2, 3], [2, 4, 6], equal_variances=True).df == 4


def test_t_is_statsmodels() -> None:
    rng = np.random.default_rng(SEED)
    for usevar, equal in (("unequal", False), ("pooled", True)):
        a, b = rng.normal(size=12), rng.normal(0.5, 2, size=30)
        t, p, df = ttest_ind(a, b, usevar=usevar)
        found = t_test(a, b, equal_variances=equal)
        assert (found.statistic, found.p, found.df) == pytest.approx((t, p, df))


def test_t_says_why_it_is_undefined() -> None:
    assert t_test([1], [2, 3]).reason == "fewer than two values per side"
    assert t_test([1, 1], [2, 2]).reason == "neither side varies"
    assert t_test([0.1] * 7, [0.3] * 7).reason == "neither side varies"
    assert t_test([0.1] * 7, [0.1, 0.2, 0.4]).df == pytest.approx(2)


def test_chi_square_by_hand() -> None:
    # All expected counts are 15 or 10: χ² = 25 (1/15 + 1/15 + 1/10 + 1/10) = 25/3.
    found = chi_square([[20, 10], [10, 10]])
    expected = sum((o - e) ** 2 / e for o, e in ((20, 18), (10, 12), (10, 12), (10, 8)))
    assert found.statistic == pytest.approx(expected)
    assert found.effect == pytest.approx(math.sqrt(expected / 50))
    assert found.df == 1


def test_chi_square_is_scipy_s_without_correction() -> None:
    rng = np.random.default_rng(SEED)
    for _ in range(50):
        table = rng.integers(1, 30, size=rng.integers(2, 5, size=2))
        known = stats.chi2_contingency(table, correction=False)
        found = chi_square(table)
        assert (found.statistic, found.p) == pytest.approx((known.statistic, known.pvalue))


def test_an_empty_category_is_no_category() -> None:
    assert chi_square([[20, 0, 10], [10, 0, 10]]) == chi_square([[20, 10], [10, 10]])
    assert chi_square([[3, 0], [5, 0]]).reason == "only one category on one side"


def test_stars() -> None:
    assert [stars(p) for p in (0.0005, 0.005, 0.03, 0.05, math.nan)] == [
        "***", "**", "*", "n.s.", "n.s.",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["binomial", "t", "chi"])
def test_false_positives_are_as_many_as_promised(kind: str) -> None:
    rng = np.random.default_rng(SEED)
    below = 0
    for _ in range(1000):
        if kind == "binomial":
            p = binomial(int(rng.binomial(200, 0.5)), 200).p
        elif kind == "t":
            p = t_test(rng.normal(size=15), rng.normal(0, 3, size=40)).p
        else:
            p = chi_square(
                rng.multinomial(300, np.outer([0.4, 0.6], [0.3, 0.7]).ravel()).reshape(2, 2)
            ).p
        below += p < 0.05
    assert 0.03 < below / 1000 < 0.07
