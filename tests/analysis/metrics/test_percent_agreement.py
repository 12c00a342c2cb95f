"""Percent agreement of worked examples."""

from __future__ import annotations

import pytest

from analysis.metrics.percent_agreement import percent_agreement
from tests.analysis.examples import by_raters, from_counts, ratings, worked

ITEMS = [[0, 5], [1, 4], [2, 3], [5, 0]]


def test_five_raters_of_four_items() -> None:
    row = percent_agreement(from_counts(ITEMS)).iloc[0]
    assert row["estimate"] == pytest.approx(0.75)
    assert row["n"] == 4
    assert 0.4 <= row["low"] < 0.75 < row["high"] <= 1


def test_missing_ratings() -> None:
    example = worked("krippendorff2011_C")
    row = percent_agreement(by_raters(example["data"], "nominal")).iloc[0]
    assert row["estimate"] == pytest.approx(example["computed"]["percent_agreement"], abs=1e-5)


def test_systems_and_all_of_them() -> None:
    rows = [
        {"system": system, "item": "i", "rater": f"r{k}", "value": value}
        for system, values in (("a", (1, 1)), ("b", (1, 2)))
        for k, value in enumerate(values)
    ]
    found = percent_agreement(ratings(rows)).set_index("system")["estimate"]
    assert found.to_dict() == {"(all)": 0.5, "a": 1.0, "b": 0.0}


def test_no_pairs_no_agreement() -> None:
    row = percent_agreement(ratings([{"value": 1}, {"value": 2, "system": "b"}])).iloc[0]
    assert row["system"] == "(all)"
    assert row["reason"] == "no item was rated by two or more people"
