"""Intraclass correlations: gaps, exact agreement, and data from known variances."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.stats import icc
from tests.analysis.matrices import intraclass_of

NAN = np.nan
# Shrout & Fleiss 1979, table 2.
JUDGES = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]


def _by_form(table: object) -> dict[str, icc.Intraclass]:
    return {found.form: found for found in intraclass_of(np.asarray(table, dtype=float))}


def test_the_published_example_has_published_intervals() -> None:
    found = _by_form(JUDGES)
    # The interval of ICC(2,1) that McGraw & Wong's formulas give for these data.
    assert found["2_1"].interval == pytest.approx((0.019, 0.761), abs=5e-4)
    assert found["3_1"].interval == pytest.approx((0.342, 0.946), abs=5e-4)


def test_an_item_with_a_gap_is_left_out_of_two_way_forms_only() -> None:
    gappy = [*JUDGES, [5, NAN, 4, 6], [7, 7, NAN, NAN]]
    found, usual = _by_form(gappy), _by_form(JUDGES)
    assert found["2_1"].estimate == pytest.approx(usual["2_1"].estimate)
    assert found["2_1"].note == "6 of 8 items were rated by all 4 raters"
    assert found["1_1"].items == 8
    assert "k is their mean size" in str(found["1_1"].note)
    assert found["1_1"].raters == pytest.approx((29 - (6 * 16 + 9 + 4) / 29) / 7)


def test_known_variances_are_recovered_with_gaps() -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(4000, 1)) * 1.5 + rng.normal(size=(4000, 5))
    table[rng.random(table.shape) < 0.4] = NAN
    found = _by_form(table)["1_1"]
    assert found.estimate == pytest.approx(2.25 / 3.25, abs=0.02)
    assert found.interval.low < 2.25 / 3.25 < found.interval.high


def test_a_shift_changes_nothing() -> None:
    moved = np.asarray(JUDGES) + 1e6
    for form, found in _by_form(moved).items():
        assert found.estimate == pytest.approx(_by_form(JUDGES)[form].estimate, abs=1e-9)


def test_the_mean_of_raters_who_contradict_each_other_has_no_lower_bound() -> None:
    """Below -1/(k - 1) the formula would turn to numbers above 1."""
    found = _by_form([[1, 5, 3], [5, 1, 3], [2, 4, 3], [4, 2, 3], [3, 3, 1], [3, 3, 5]])
    assert found["2_1"].interval.low < -1 / 2
    assert found["2_k"].interval.low == -np.inf
    assert found["2_k"].interval.low < found["2_k"].estimate <= found["2_k"].interval.high


def test_exact_agreement_has_no_interval() -> None:
    for found in intraclass_of([[1, 1], [2, 2], [5, 5]]):
        assert found.estimate == pytest.approx(1)
        assert found.reason is None
        assert np.isnan(found.interval.low)


@pytest.mark.parametrize(
    ("table", "form", "told"),
    [
        ([[3, 3], [3, 3]], "1_1", "all ratings are equal"),
        ([[3, 3], [3, 3]], "2_1", "all ratings are equal"),
        ([[3, 4]], "1_k", "fewer than two items"),
        ([[3], [4]], "1_1", "no item was rated by two or more people"),
        ([[3], [4]], "3_1", "one rater only"),
        ([[3, NAN, 1], [NAN, 4, 2]], "2_k", "0 items were rated by all 3 raters"),
        ([[1, 2], [2, 1], [0, 3]], "1_k", "all items have the same mean"),
    ],
)
def test_why_a_form_is_undefined(table: object, form: str, told: str) -> None:
    found = _by_form(table)[form]
    assert np.isnan(found.estimate)
    assert told in str(found.reason)


def test_items_of_the_same_mean_have_a_reason_in_every_form() -> None:
    """Raters who differ by a constant and items that do not differ leave nothing to divide by."""
    for found in intraclass_of([[1, 2], [1, 2], [1, 2]]):
        assert found.reason is not None or np.isfinite(found.estimate), found.form
