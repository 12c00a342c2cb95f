"""Alpha of the published examples, and why it may be undefined."""

from __future__ import annotations

import numpy as np
import pytest

from analysis import BadOption, RatingTable
from analysis.metrics import krippendorff_alpha as module
from analysis.metrics.krippendorff_alpha import krippendorff_alpha
from tests.analysis.examples import by_raters, from_counts, ratings, worked

NAMES = [
    "krippendorff2011_A",
    "krippendorff2011_B",
    "krippendorff2011_C",
    "encyclopedia_3_coders",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_published_examples(name: str, level: str) -> None:
    example = worked(name)
    if f"alpha_{level}" not in example["computed"]:
        assert isinstance(example["data"][0][0], str) or name == "krippendorff2011_A"
        return
    row = krippendorff_alpha(by_raters(example["data"], level)).iloc[0]
    assert row["estimate"] == pytest.approx(example["computed"][f"alpha_{level}"], abs=1e-6)
    if f"alpha_{level}" in example["published"]:
        published = example["published"][f"alpha_{level}"]
        assert row["estimate"] == pytest.approx(published, abs=6e-4)
    assert row["low"] <= row["estimate"] <= row["high"]


def test_a_scale_can_be_read_by_another_level() -> None:
    example = worked("krippendorff2011_C")
    for level in ("ordinal", "interval", "ratio"):
        row = krippendorff_alpha(by_raters(example["data"], "interval"), alpha_level=level).iloc[0]
        assert row["estimate"] == pytest.approx(example["computed"][f"alpha_{level}"], abs=1e-6)
        assert row["level"] == level
    nominal = krippendorff_alpha(by_raters(example["data"], "nominal"), alpha_level="ratio")
    assert nominal.iloc[0]["level"] == "nominal"


def test_a_level_that_does_not_fit_is_told() -> None:
    table = by_raters([[-1, 2], [1, 2]], "interval")
    below = krippendorff_alpha(table, alpha_level="ratio").iloc[0]
    assert "answers below 0" in below["reason"]
    with pytest.raises(BadOption, match="alpha_level is 'nominal'; right would be one of ordinal"):
        krippendorff_alpha(table, alpha_level="nominal")


def test_fleiss_diagnoses() -> None:
    example = worked("fleiss1971_diagnoses")
    by_rater = list(zip(*example["data"], strict=True))
    row = krippendorff_alpha(by_raters(by_rater, "nominal")).iloc[0]
    assert row["estimate"] == pytest.approx(example["computed"]["alpha_nominal"], abs=1e-5)


def test_five_raters_of_four_items() -> None:
    row = krippendorff_alpha(from_counts([[0, 5], [1, 4], [2, 3], [5, 0]])).iloc[0]
    assert row["estimate"] == pytest.approx(0.5052, abs=5e-5)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (from_counts([[0, 5], [0, 5]]), "only one category"),
        (ratings([{"value": 1}, {"value": 2}], level="nominal"), "no item was rated by two"),
    ],
)
def test_why_alpha_is_undefined(table: RatingTable, reason: str) -> None:
    row = krippendorff_alpha(table).iloc[0]
    assert np.isnan(row["estimate"])
    assert np.isnan(row["low"])
    assert reason in row["reason"]


def test_a_large_table_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    table = by_raters(worked("krippendorff2011_C")["data"], "ordinal")
    usual = krippendorff_alpha(table)["estimate"].iloc[0]
    monkeypatch.setattr(module, "PACKAGE_CELLS", 0)
    assert krippendorff_alpha(table)["estimate"].iloc[0] == pytest.approx(usual, abs=1e-12)


def test_independent_raters_agree_by_chance_only() -> None:
    rng = np.random.default_rng(0)
    row = krippendorff_alpha(by_raters(rng.integers(0, 2, (3, 400)).tolist(), "nominal")).iloc[0]
    assert row["low"] < 0 < row["high"]
    assert abs(row["estimate"]) < 0.08
