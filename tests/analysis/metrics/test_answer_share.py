"""Shares of answers that are names: each as a question of yes and no, per system."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis import get_metric
from tests.analysis.examples import triples

MOODS = ("sad", "glad", "neither")


def moods(answers: list[str], level: str = "nominal") -> pd.DataFrame:
    """Return two systems' ratings by four raters: the answers go round, m1 is always glad."""
    rows = [(system, rater, 1) for system in (0, 1) for rater in range(4)]
    frame = triples(rows).astype({"value": object})
    frame["value"] = [*answers, *["glad"] * 4]
    return frame.assign(level=level)


def shares(frame: pd.DataFrame) -> pd.DataFrame:
    return get_metric("answer_share")(frame).set_index(["answer", "system"])


def test_each_answer_has_its_share_with_an_interval_that_holds_it() -> None:
    found = shares(moods(["sad", "glad", "sad", "neither"]))
    assert set(found.index) == {(answer, system) for system in ("m0", "m1") for answer in MOODS}
    assert found.loc[("sad", "m0"), "count"] == 2
    assert found.loc[("sad", "m0"), "estimate"] == pytest.approx(0.5, abs=0.05)
    assert found.loc[("sad", "m1"), "count"] == 0
    assert (found["n"] == 4).all()
    held = found.dropna(subset=["low"])
    assert not held.empty
    assert ((held["low"] <= held["estimate"]) & (held["estimate"] <= held["high"])).all()
    assert ((held["low"] >= 0) & (held["high"] <= 1)).all()


def test_one_answer_s_share_is_the_score_of_the_same_answers_as_yes_and_no() -> None:
    frame = moods(["sad", "glad", "sad", "neither"])
    yes = frame.assign(value=(frame["value"] == "sad").astype(float))
    score = get_metric("system_score")(yes).set_index("system")
    found = shares(frame).loc["sad"]
    for column in ("estimate", "low", "high"):
        assert found[column].to_numpy() == pytest.approx(score[column].to_numpy(), nan_ok=True)


def test_yes_and_no_and_grades_have_no_rows() -> None:
    frame = moods(["sad"] * 4)
    assert get_metric("answer_share")(frame.assign(value=1.0)).empty
    assert get_metric("answer_share")(frame.assign(value=3.0, level="ordinal")).empty


@pytest.mark.parametrize(("kinds", "rows"), [(11, True), (12, True), (13, False)])
def test_more_than_a_dozen_answers_have_no_rows(kinds: int, rows: bool) -> None:
    frame = triples([(0, rater, 1) for rater in range(kinds)]).astype({"value": object})
    frame["value"] = [f"answer {n}" for n in range(kinds)]
    found = get_metric("answer_share")(frame.assign(level="nominal"))
    assert (not found.empty) is rows
