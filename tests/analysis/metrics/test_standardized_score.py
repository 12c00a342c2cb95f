"""Standardized scores of a real campaign, to the digits of its method."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

from analysis import BadOption, RatingTable, rating_table
from analysis.metrics.standardized_score import standardized_score
from analysis.scores.question_ratings import numbered
from tests.analysis.examples import cell, crowd_campaign, ratings, shared

FIVE = ("interesting", "fun", "consistent", "fluent", "topic")


def test_the_published_campaign() -> None:
    expected = json.loads(shared("crowd_campaign_run1", "expected.json").read_text())
    table = rating_table(crowd_campaign())
    found = standardized_score(table, control="degraded_qc", control_questions=FIVE)
    assert set(found["raters"]) == {expected["workers"]}
    assert set(found["raters_kept"]) == {expected["workers_passing"]}
    rows = found.set_index(["system", "question"])
    for system, printed in expected["models_passing_workers"].items():
        overall = rows.loc[(system, "(all)")]
        assert overall["n"] == printed["n"]
        assert overall["estimate"] == pytest.approx(printed["z"], abs=5.1e-5)
        assert overall["raw"] == pytest.approx(printed["raw"], abs=5.1e-4)
        for question in (*FIVE, "robotic", "repetitive"):
            z = cell(rows, (system, question), "estimate")
            assert z == pytest.approx(printed[question], abs=5.1e-5)


def test_without_a_control_every_rater_is_kept() -> None:
    found = standardized_score(rating_table(crowd_campaign()))
    assert set(found["raters_kept"]) == {248}


def _of(scores: dict[str, list[int]], **common: object) -> list[dict[str, object]]:
    return [
        {"system": system, "rater": rater, "value": value, **common}
        for rater, values in scores.items()
        for system, value in zip("aabb", values, strict=True)
    ]


def test_z_is_by_rater() -> None:
    table = ratings(_of({"mild": [4, 5, 4, 5], "harsh": [1, 2, 3, 4]}))
    found = standardized_score(table).set_index(["question", "system"])["estimate"]
    harsh = (np.array([1, 2, 3, 4]) - 2.5) / np.std([1, 2, 3, 4], ddof=1)
    assert found["(all)", "a"] == pytest.approx(harsh[:2].mean() / 2)
    assert found["(all)", "b"] == pytest.approx(harsh[2:].mean() / 2)


def test_a_rater_without_spread_has_no_z() -> None:
    found = standardized_score(ratings(_of({"flat": [3, 3, 3, 3], "other": [1, 2, 3, 4]})))
    assert (found["n"] == 2).all()


def test_raters_of_one_system_are_left_out() -> None:
    rows: list[dict[str, object]] = [{"system": "a", "rater": "r", "value": v} for v in (1, 2, 3)]
    assert standardized_score(ratings(rows)).empty


@pytest.mark.parametrize("form", [RatingTable, numbered], ids=["texts", "categories"])
def test_scales_of_different_width_are_brought_to_one(
    form: Callable[[RatingTable], RatingTable],
) -> None:
    narrow = _of({"r": [1, 2, 4, 5]}, question="n", scale_low=1, scale_high=5)
    wide = _of({"r": [0, 25, 75, 100]}, question="w", scale_low=0, scale_high=100)
    found = standardized_score(form(ratings(narrow + wide))).set_index(["question", "system"])
    assert cell(found, ("n", "a"), "estimate") == pytest.approx(cell(found, ("w", "a"), "estimate"))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"control": "c"}, "control is 'c'; right would be one of the systems: a, b"),
        ({"control_questions": ["x"]}, "control_questions is 'x'; right would be some of the"),
    ],
)
def test_an_option_that_does_not_fit_is_refused(options: dict[str, object], told: str) -> None:
    with pytest.raises(BadOption, match=told):
        standardized_score(ratings(_of({"r": [1, 2, 3, 4]})), **options)  # type: ignore[arg-type]


def test_a_rater_passes_who_rates_the_control_lower() -> None:
    given = {"sees": [1, 1, 2, 1, 2, 4, 5, 4, 4, 5], "blind": [5, 1, 4, 2, 3, 3, 4, 2, 5, 1]}
    rows: list[dict[str, object]] = [
        {"system": "ab"[k // 5], "rater": rater, "value": value}
        for rater, values in given.items()
        for k, value in enumerate(values)
    ]
    found = standardized_score(ratings(rows), control="a").set_index(["question", "system"])
    assert set(found["raters_kept"]) == {1}
    assert set(found["n"]) == {5}
    z = (np.array([1, 1, 2, 1, 2]) - 2.9) / np.std(given["sees"], ddof=1)
    assert cell(found, ("(all)", "a"), "estimate") == pytest.approx(z.mean())
