"""Fleiss' kappa of the published examples."""

from __future__ import annotations

import pytest

from analysis.metrics.fleiss_kappa import fleiss_kappa
from tests.analysis.examples import by_raters, from_counts, worked


def test_ten_items_of_fourteen_raters() -> None:
    example = worked("encyclopedia_fleiss")
    row = fleiss_kappa(from_counts(example["data"])).iloc[0]
    assert row["estimate"] == pytest.approx(example["computed"]["fleiss_kappa"], abs=1e-6)
    assert row["low"] < row["estimate"] < row["high"]
    assert row["n"] == 10


def test_diagnoses_of_1971() -> None:
    example = worked("fleiss1971_diagnoses")
    by_rater = list(zip(*example["data"], strict=True))
    row = fleiss_kappa(by_raters(by_rater, "nominal")).iloc[0]
    assert row["estimate"] == pytest.approx(example["computed"]["fleiss_kappa"], abs=1e-6)
    assert row["estimate"] == pytest.approx(example["published"]["fleiss_kappa"], abs=5e-4)


def test_unequal_numbers_of_ratings_are_told() -> None:
    row = fleiss_kappa(by_raters([[1, 2, 1], [1, 1, None]], "nominal")).iloc[0]
    assert "items have 1 to 2 ratings" in row["reason"]
    row = fleiss_kappa(from_counts([[2, 0], [0, 3]])).iloc[0]
    assert "items have 2 to 3 ratings" in row["reason"]


def test_one_category_is_told() -> None:
    assert "only one category" in fleiss_kappa(from_counts([[2, 0], [2, 0]])).iloc[0]["reason"]


def test_interval_questions_are_left_out() -> None:
    assert fleiss_kappa(by_raters([[1, 2], [1, 2]], "interval")).empty
