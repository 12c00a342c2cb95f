"""Fleiss' kappa of items with unequal numbers of ratings."""

from __future__ import annotations

import pytest

from analysis.metrics.fleiss_kappa_generalized import fleiss_kappa_generalized
from tests.analysis.examples import by_raters, from_counts, ratings, worked


def test_four_raters_with_gaps() -> None:
    example = worked("krippendorff2011_C")
    expected = example["published"]["fleiss_kappa_generalised"]
    row = fleiss_kappa_generalized(by_raters(example["data"], "nominal")).iloc[0]
    assert row["estimate"] == pytest.approx(expected, abs=5e-6)
    assert row["low"] < row["estimate"] <= row["high"]


def test_equal_numbers_are_left_to_fleiss() -> None:
    assert fleiss_kappa_generalized(from_counts([[2, 0], [1, 1]])).empty


def test_why_it_is_undefined() -> None:
    alone = ratings([{"value": 1}, {"value": 2}], level="nominal")
    assert "no item was rated by two" in fleiss_kappa_generalized(alone).iloc[0]["reason"]
    assert (
        "only one category" in fleiss_kappa_generalized(from_counts([[2], [3]])).iloc[0]["reason"]
    )
