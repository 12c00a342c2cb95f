"""Cohen's kappa of published data, of two raters and as the mean over pairs."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis.metrics.cohen_kappa import cohen_kappa
from tests.analysis.examples import by_raters, ratings, worked


def test_six_raters_of_1971() -> None:
    example = worked("fleiss1971_diagnoses")
    by_rater = list(zip(*example["data"], strict=True))
    row = cohen_kappa(by_raters(by_rater, "nominal")).iloc[0]
    assert row["estimate"] == pytest.approx(example["published"]["light_kappa"], abs=5e-4)
    assert (row["pairs"], row["pairs_used"], row["n"]) == (15, 15, 30)
    row = cohen_kappa(by_raters(by_rater[1:3], "nominal")).iloc[0]
    assert row["estimate"] == pytest.approx(example["published"]["kappa_raters_2_3"], abs=5e-4)
    assert row["low"] < row["estimate"] < row["high"]


def test_pairs_without_enough_in_common_are_counted() -> None:
    row = cohen_kappa(by_raters([[1, 2, 1], [1, 2, 2], [1, None, None]], "nominal")).iloc[0]
    assert (row["pairs"], row["pairs_used"]) == (3, 1)
    assert row["estimate"] == pytest.approx(0.4)


def test_why_it_is_undefined() -> None:
    alone = ratings([{"value": 1}, {"value": 2}], level="nominal")
    assert "no item was rated by two" in cohen_kappa(alone).iloc[0]["reason"]
    strangers = [[1, 2, None, None], [1, None, 2, None], [None, 1, None, 2], [None, None, 1, 1]]
    row = cohen_kappa(by_raters(strangers, "nominal")).iloc[0]
    assert "none of 4 pairs of raters has two items" in row["reason"]


def test_interval_questions_are_left_out() -> None:
    assert cohen_kappa(by_raters([[1, 2], [1, 2]], "interval")).empty


def test_the_interval_of_many_kinds_of_disagreement_does_not_hang_on_the_order_of_rows() -> None:
    answers = ("yes", "no", "yes", "cannot tell")
    rows: list[dict[str, object]] = [
        {
            "item": f"i{item // 2}",
            "system": f"s{item % 2}",
            "rater": f"r{rater}",
            "value": answers[(item + (item * rater) % 5 // 4) % 4],
        }
        for item in range(12)
        for rater in range(3)
    ]
    columns = ["system", "estimate", "low", "high"]
    usual, turned = (
        cohen_kappa(ratings(each, level="nominal"))[columns] for each in (rows, rows[::-1])
    )
    assert usual["low"].notna().all()
    pd.testing.assert_frame_equal(usual, turned)
