"""Whitelists in the layouts of ASAPP's tables 4 to 6."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis import prediction_table
from analysis.reports.whitelists import whitelists
from tests.analysis.prediction_tables import predictions, ranked

LIST = ["Goodbye to you now!", "I'm sorry to hear that.", "Thank you for the call."]
ROWS: list[dict[str, object]] = [
    {"gold": "thank you, for the call", "scores": [0.1, 0.2, 0.9], "gold_score": 0.9},
    {"gold": "I'm sorry to hear that", "scores": [0.9, 0.2, 0.3], "gold_score": 0.2},
    {"gold": "Please reset the box at once", "scores": [0.1, 0.2, 0.3], "gold_score": 0.8},
    {"gold": "Call us on Monday morning", "scores": [0.9, 0.8, 0.7], "gold_score": 0.5},
]


def test_three_tables_by_hand() -> None:
    own = predictions(ROWS, candidates=LIST, dataset="Frequency 3", system="dual")
    random = ranked(1, 2, 4, 8, n=10, dataset="10 random", system="dual")
    random["prediction"] = "r" + random["prediction"]
    report = whitelists(prediction_table(pd.concat([own, random], ignore_index=True)))
    by_title = {section.title: section.frame for section in report.sections}
    four, five, six = (by_title[f"Own systems, layout of table {k}"] for k in (4, 5, 6))
    assert four.iloc[0][["R@1", "R@3", "R@5"]].tolist() == [0.25, 0.5, 0.75]
    assert list(four["dataset"]) == ["10 random"], "a whitelist's rows are not random candidates"
    added, without = five.iloc[0], five.iloc[1]
    assert (added["true_added"], added["R@1"], added["n"]) == (True, 0.5, 4)
    assert (without["true_added"], without["R@1"], without["n"]) == (False, 0.5, 2)
    assert without["R@3"] == 1
    assert 0 < added["BLEU"] < 100
    assert six.iloc[0]["coverage_percent"] == 50
    assert six.iloc[0]["R@1"] == 0.5
    assert report.findings == ("Frequency 3 covers most of 1: 50.0 % of the true replies.",)
    assert "agrees only weakly" in report.cautions[0]


def test_choosing_the_true_reply_always_has_a_bleu_of_100() -> None:
    row = ROWS[2]
    report = whitelists(predictions([row], candidates=LIST))
    five = report.sections[1].frame
    assert five["BLEU"].tolist() == pytest.approx([100])


def test_printed_tables_stand_there_without_ones_own() -> None:
    report = whitelists(predictions([{"response": "Hi."}]))
    assert [section.title.split(":")[0] for section in report.sections] == ["As printed"] * 3
    assert report.sections[0].frame["R@1"].tolist() == [0.892, 0.686, 0.449, 0.234]
    assert "no predictions from a whitelist" in report.findings[0]
