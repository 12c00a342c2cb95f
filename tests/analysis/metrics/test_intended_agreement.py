"""Agreement of what is perceived with what was intended, as an average over raters."""

from __future__ import annotations

import numpy as np
import pytest

from analysis import RatingTable, get_metric
from tests.analysis.examples import ratings


def table(votes: dict[str, list[str]], intended: list[str]) -> RatingTable:
    rows: list[dict[str, object]] = [
        {"rater": rater, "item": f"i{k}", "value": said, "intended": meant}
        for rater, answers in votes.items()
        for k, (said, meant) in enumerate(zip(answers, intended, strict=True))
    ]
    return ratings(rows, question="mood", level="nominal", system="bot")


def test_by_hand() -> None:
    """Shares 1, 1/2 and 0 of three raters: mean .5, SD .5, and t with two degrees."""
    votes = {"a": ["glad", "sad"], "b": ["glad", "glad"], "c": ["sad", "glad"]}
    (row,) = get_metric("intended_agreement")(table(votes, ["glad", "sad"])).to_dict("records")
    assert (row["estimate"], row["n"], row["raters"]) == (0.5, 6, 3)
    assert (row["low"], row["high"]) == (0.0, 1.0)  # .5 ± 4.303 · .5/√3 reaches beyond both
    five = {name: ["glad"] * 3 + ["sad"] * (name in "de") for name in "abc"}
    five |= {name: ["glad", "glad", "sad"] for name in "de"}
    (row,) = get_metric("intended_agreement")(table(five, ["glad"] * 3)).to_dict("records")
    share = (3 + 2 * 2 / 3) / 5
    spread = np.std([1, 1, 1, 2 / 3, 2 / 3], ddof=1) / 5**0.5
    assert row["estimate"] == pytest.approx(share)
    assert row["low"] == pytest.approx(share - 2.7764451 * spread)


def test_replies_without_an_intention_are_left_out() -> None:
    votes = {"a": ["glad", "sad"], "b": ["glad", "glad"]}
    (row,) = get_metric("intended_agreement")(table(votes, ["glad", ""])).to_dict("records")
    assert (row["estimate"], row["n"]) == (1.0, 2)
    assert get_metric("intended_agreement")(table(votes, ["", ""])).empty
    no_column = ratings([{"value": "glad"}], question="mood", level="nominal")
    assert get_metric("intended_agreement")(no_column).empty


def test_one_rater_has_no_interval() -> None:
    (row,) = get_metric("intended_agreement")(table({"a": ["glad"]}, ["glad"])).to_dict("records")
    assert row["estimate"] == 1
    assert np.isnan([row["low"], row["high"]]).all()
    assert row["reason"]


def test_other_questions_of_the_same_replies_have_none() -> None:
    """What a reply was meant to be stands beside every answer about it, fluency's too."""
    mood: list[dict[str, object]] = [
        {"rater": rater, "item": item, "value": said, "intended": meant, "question": "mood"}
        for rater in "ab"
        for item, said, meant in (("i1", "glad", "sad"), ("i2", "sad", "sad"))
    ]
    fluent = [row | {"question": "fluency", "value": "yes"} for row in mood]
    found = get_metric("intended_agreement")(ratings(mood + fluent, level="nominal", system="bot"))
    assert found[["question", "estimate", "n"]].values.tolist() == [["mood", 0.5, 4]]
