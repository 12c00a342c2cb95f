"""AC1 of the published example with gaps, and why it may be undefined."""

from __future__ import annotations

import pytest

from analysis.metrics.gwet_ac1 import gwet_ac1
from tests.analysis.examples import by_raters, from_counts, ratings, worked


def test_four_raters_with_gaps() -> None:
    example = worked("krippendorff2011_C")
    row = gwet_ac1(by_raters(example["data"], "nominal")).iloc[0]
    assert row["estimate"] == pytest.approx(example["published"]["gwet_ac1"], abs=5e-6)
    assert row["low"] < row["estimate"] <= row["high"]
    assert row["n"] == 11


def test_categories_of_the_question_count_for_each_system() -> None:
    rows = [
        {"system": system, "item": f"{system}{k}", "rater": f"r{j}", "value": value}
        for system, values in (("a", (1, 1, 1)), ("b", (1, 2, 1)))
        for k, value in enumerate(values)
        for j in range(2)
    ]
    found = gwet_ac1(ratings(rows, level="nominal")).set_index("system")
    assert found["estimate"].to_dict() == {"(all)": 1.0, "a": 1.0, "b": 1.0}
    assert found["reason"].isna().all()


def test_why_it_is_undefined() -> None:
    assert "only one category" in gwet_ac1(from_counts([[2], [2]])).iloc[0]["reason"]
    alone = ratings([{"value": 1}, {"value": 2}], level="nominal")
    assert "no item was rated by two" in gwet_ac1(alone).iloc[0]["reason"]


def test_scales_are_left_to_ac2() -> None:
    assert gwet_ac1(by_raters([[1, 2], [1, 2]], "ordinal")).empty
