"""Means and their intervals."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from analysis import rating_table
from analysis.metrics.likert import likert
from tests.analysis.examples import kulikov, ratings, shared


def test_mean_sd_se_n_and_t_interval() -> None:
    values = [3, 4, 2, 5, 4, 4]
    row = likert(ratings([{"value": value} for value in values])).iloc[0]
    assert row["estimate"] == pytest.approx(np.mean(values))
    assert row["sd"] == pytest.approx(np.std(values, ddof=1))
    assert row["sd_population"] == pytest.approx(np.std(values))
    assert row["se"] == pytest.approx(np.std(values, ddof=1) / np.sqrt(6))
    expected = stats.t.interval(0.95, 5, loc=np.mean(values), scale=stats.sem(values))
    assert (row["low"], row["high"]) == pytest.approx(expected)
    assert row["n"] == 6


def test_raw_means_of_the_published_scores() -> None:
    found = likert(rating_table(kulikov())).set_index("system")
    expected = json.loads(shared("calibration_golden", "kulikov_expected.json").read_text())
    for model in expected["models"]:
        row = found.loc[f"model{model['model']}"]
        assert row["n"] == model["n"]
        assert row["estimate"] == pytest.approx(model["raw_mean"], abs=1e-4)
        assert row["sd_population"] == pytest.approx(model["raw_sd_population"], abs=1e-4)


def test_ratings_of_one_item_are_not_independent() -> None:
    values = {"a": [1, 1, 1], "b": [5, 5, 5], "c": [3, 3, 3], "d": [2, 2, 2]}
    rows = [
        {"item": item, "rater": f"r{k}", "value": value}
        for item, said in values.items()
        for k, value in enumerate(said)
    ]
    row = likert(ratings(rows)).iloc[0]
    assert row["n"] == 12
    assert row["items"] == 4
    assert row["se"] == pytest.approx(stats.sem([1, 5, 3, 2]))


@pytest.mark.parametrize(
    ("values", "item", "reason"),
    [
        ([3], None, "only one rating"),
        ([3, 3, 3], None, "every rating is 3"),
        ([1, 2], "i", "same item"),
    ],
)
def test_why_there_is_no_interval(values: list[int], item: str | None, reason: str) -> None:
    common = {} if item is None else {"item": item}
    row = likert(ratings([{"value": value, **common} for value in values])).iloc[0]
    assert np.isnan(row["low"])
    assert reason in row["reason"]
    assert row["estimate"] == pytest.approx(np.mean(values))


def test_the_ends_of_the_scale_are_told() -> None:
    declared = likert(ratings([{"value": 2}], scale_low=1, scale_high=5)).iloc[0]
    assert (declared["scale_low"], declared["scale_high"]) == (1, 5)
    assert declared["scale_ends"] == "declared"
    seen = likert(ratings([{"value": 2}, {"value": 4}])).iloc[0]
    assert (seen["scale_low"], seen["scale_high"], seen["scale_ends"]) == (2, 4, "from the data")


def test_nominal_questions_have_no_mean() -> None:
    assert likert(ratings([{"value": 1}], level="nominal")).empty
