"""Alpha of many resamples at once against the krippendorff package, one by one."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest

from analysis.raters.alpha import alpha, alphas
from analysis.scores import integer_codes
from tests.analysis.matrices import votes_of
from tests.analysis.tables_with_gaps import gappy

LEVELS = ["nominal", "ordinal", "interval", "ratio"]


@pytest.mark.parametrize("level", LEVELS)
def test_alphas_of_resamples_are_the_packages(level: integer_codes.Scale) -> None:
    rng = np.random.default_rng(5)
    for table in gappy(6):
        given = votes_of(table, level)
        drawn = rng.multinomial(given.units, given.times / given.units, size=4)
        for weights, found in zip(drawn, alphas(given, drawn.astype(float)), strict=True):
            counts = np.repeat(given.counts.toarray(), weights, axis=0).astype(int)
            used = counts.any(axis=0)
            if used.sum() < 2:
                assert np.isnan(found)
                continue
            expected = krippendorff.alpha(
                value_counts=counts[:, used],
                value_domain=given.values[used],
                level_of_measurement=level,
            )
            assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
def test_a_resample_of_one_category_is_undefined(level: integer_codes.Scale) -> None:
    given = votes_of([[1, 2], [1, 1]], level)
    one_category = given.counts.toarray()[:, 0] == 2
    assert np.isnan(alphas(given, one_category[None, :].astype(float)))[0]


@pytest.mark.parametrize("level", LEVELS)
def test_nobody_disagrees(level: integer_codes.Scale) -> None:
    assert alpha(votes_of([[1, 2, 4], [1, 2, 4]], level)) == 1


def test_a_shift_of_large_values_changes_no_digit_that_counts() -> None:
    table = next(gappy(1))
    usual = alpha(votes_of(table, "interval"))
    assert alpha(votes_of(table + 1e7, "interval")) == pytest.approx(usual, abs=1e-9)


def test_two_zeros_are_no_distance_apart_on_a_ratio_scale() -> None:
    found = alpha(votes_of([[0, 1, 2], [0, 2, 2]], "ratio"))
    expected = krippendorff.alpha(
        np.array([[0.0, 1, 2], [0, 2, 2]]) + 1e-12, level_of_measurement="ratio"
    )
    assert found == pytest.approx(expected, abs=1e-9)
